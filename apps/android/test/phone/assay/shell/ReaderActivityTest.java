package assay.shell;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.Manifest;
import android.app.Activity;
import android.content.Context;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.net.Uri;
import android.widget.Button;
import android.widget.EditText;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowApplication;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** Assay Reader, the app for every origin, against a service of the test's. */
@RunWith(RobolectricTestRunner.class)
@Config(shadows = {FieldIsoDep.class, PhoneWebView.class, PhoneNfcAdapter.class})
public class ReaderActivityTest {
    private static final String DOCUMENT = "/.well-known/assay-reader.json";
    private static final String DETAILS = "/v1/verify/session/vs_1/details";
    private static final String GOOD_DOCUMENT = "{\"service\":\"Assay\",\"protocol\":1,\"session_page\":\"/verify/{session}\"}";
    private static final String GOOD_DETAILS = "{\"data\":{\"organization\":{\"name\":\"Acme Shop\"}}}";

    private final Phone phone = new Phone();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<String>());
    private HttpServer service;
    private String link;
    private volatile int status = 200;
    private volatile String document = GOOD_DOCUMENT;
    private volatile String type = "application/json";
    private volatile String details = GOOD_DETAILS;

    @Before
    public void startService() throws IOException {
        PhoneKeyStore.install();
        Phone.hasNfc(true);
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", new HttpHandler() {
            @Override
            public void handle(HttpExchange exchange) throws IOException {
                String path = exchange.getRequestURI().toString();
                asked.add(path);
                boolean isDocument = path.equals(DOCUMENT);
                byte[] body = (isDocument ? document : details).getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("content-type", type);
                exchange.getResponseHeaders().set("location", "/elsewhere");
                exchange.getResponseHeaders().set("set-cookie", "a=b");
                exchange.sendResponseHeaders(isDocument ? status : 200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            }
        });
        service.start();
        link = "http://localhost:" + service.getAddress().getPort() + "/verify/vs_1#handoff=secret-token";
    }

    @After
    public void stopService() {
        service.stop(0);
        PhoneKeyStore.remove();
    }

    @Test
    public void nothingIsOpenedBeforeThePersonHasSeenWhoAsksAndAgreed() {
        phone.start(link);
        assertNull("while the service is asked", phone.web());
        untilShown("Acme Shop");
        assertNull(phone.web());
        String shown = phone.texts();
        assertTrue(shown, shown.contains("\u2066localhost:" + service.getAddress().getPort() + "\u2069 asks to read"));
        assertEquals("the token of the link goes nowhere", Arrays.asList(DOCUMENT, DETAILS), asked);
        assertTrue("not through a window of another app", phone.button("Agree").getFilterTouchesWhenObscured());
        phone.button("Agree").performClick();
        assertEquals(link, phone.webShadow().getLastLoadedUrl());
        assertEquals(link.replaceAll("/verify.*", ""), phone.webShadow().scriptOrigin);
    }

    @Test
    public void whoDeclinesIsBackAtTheFirstScreenAndNothingIsLeft() {
        phone.start(link);
        untilShown("Acme Shop");
        phone.button("Decline").performClick();
        assertNull(phone.web());
        assertNotNull(phone.find(EditText.class));
        assertNull("the link is not asked about again", phone.activity.getIntent().getData());
        assertTrue(PhoneKeyStore.KEYS.isEmpty());
    }

    @Test
    public void aPastedLinkIsAskedAboutToo() {
        phone.start(null);
        phone.find(EditText.class).setText(link);
        phone.button("Open").performClick();
        assertNull(phone.web());
        untilShown("Acme Shop");
    }

    @Test
    public void anOriginThatIsNoVerificationServiceIsNotOpened() {
        String[][] wrong = {
            {"404", GOOD_DOCUMENT, "application/json", GOOD_DETAILS},
            {"301", GOOD_DOCUMENT, "application/json", GOOD_DETAILS},
            {"302", GOOD_DOCUMENT, "application/json", GOOD_DETAILS},
            {"307", GOOD_DOCUMENT, "application/json", GOOD_DETAILS},
            {"200", GOOD_DOCUMENT, "text/html", GOOD_DETAILS},
            {"200", "<!doctype html>", "application/json", GOOD_DETAILS},
            {"200", "[]", "application/json", GOOD_DETAILS},
            {"200", "{}", "application/json", GOOD_DETAILS},
            {"200", "{\"protocol\":2,\"session_page\":\"/verify/{session}\"}", "application/json", GOOD_DETAILS},
            {"200", "{\"protocol\":\"1\",\"session_page\":\"/verify/{session}\"}", "application/json", GOOD_DETAILS},
            {"200", GOOD_DOCUMENT + new String(new char[4096]), "application/json", GOOD_DETAILS},
            {"200", GOOD_DOCUMENT, "application/json", "{\"error\":{}}"},
            {"200", GOOD_DOCUMENT, "application/json", "{\"data\":{\"organization\":{\"name\":\"\\u202e\"}}}"},
            {"200", GOOD_DOCUMENT, "application/json", "{\"data\":{\"organization\":{\"name\":{}}}}"},
        };
        for (String[] answer : wrong) {
            status = Integer.parseInt(answer[0]);
            document = answer[1];
            type = answer[2];
            details = answer[3];
            phone.start(link);
            untilShown("Nothing was opened");
            assertNull(Arrays.toString(answer), phone.web());
            assertNotNull(phone.find(EditText.class));
        }
        assertFalse("no redirect was followed", asked.contains("/elsewhere"));
    }

    @Test
    public void aServiceThatCannotBeReachedIsAskedAgain() {
        status = 503;
        phone.start(link);
        untilShown("could not be loaded");
        phone.button("Try again").performClick();
        untilShown("could not be loaded");
        status = 200;
        ConnectivityManager connectivity =
                (ConnectivityManager) phone.activity.getSystemService(Context.CONNECTIVITY_SERVICE);
        for (ConnectivityManager.NetworkCallback callback : shadowOf(connectivity).getNetworkCallbacks())
            callback.onAvailable(null);
        untilShown("Acme Shop");
    }

    @Test
    public void anAnswerThatComesAfterAnotherLinkIsNotShown() {
        phone.start(link);
        phone.controller.newIntent(
                new Intent(Intent.ACTION_VIEW, Uri.parse(link.replace("vs_1", "vs_2"))));
        untilShown("Acme Shop");
        phone.button("Agree").performClick();
        assertTrue(phone.webShadow().getLastLoadedUrl().contains("/verify/vs_2#"));
    }

    @Test
    public void aSessionThatWasAgreedToGoesOnWithoutAQuestionAndNoOtherDoes() {
        phone.start(link);
        untilShown("Acme Shop");
        phone.button("Agree").performClick();
        String page = link.replaceAll("#.*", "");
        phone.load(page);
        phone.say("keep {\"a\":\"consent-token\"}");
        phone.endProcessAndReturn();
        assertEquals("Android ended the process", page, phone.webShadow().getLastLoadedUrl());
        assertTrue(phone.webShadow().script.contains("consent-token"));
        phone.start(page);
        assertTrue("the same link again", phone.webShadow().script.contains("consent-token"));
        phone.start(page.replace("vs_1", "vs_2"));
        assertNull(phone.web());
        assertTrue("nothing is left of the one before", PhoneKeyStore.KEYS.isEmpty());
    }

    @Test
    public void aLinkThatIsNotToBeOpenedAsksNobody() {
        for (String wrong : new String[] {
            "http://example.com/verify/vs_1", "https://user@example.com/verify/vs_1", "https://192.0.2.1/verify/vs_1"
        }) {
            phone.start(wrong);
            assertNotNull(wrong, phone.find(EditText.class));
            assertTrue("and the person learns why", phone.texts().contains("cannot open this"));
        }
        assertEquals(Collections.emptyList(), asked);
    }

    @Test
    public void aScannedCodeFollowsTheRulesOfAPastedLink() {
        scan();
        for (String hostile : new String[] {
            "",
            "javascript:alert(1)",
            "https://example.com@evil.test/verify/vs_1",
            "intent://example.com/verify/vs_1#Intent;scheme=https;end",
            "http://example.com/verify/vs_1",
            "https://192.0.2.1/verify/vs_1",
            "https://example.com/dashboard",
            "WIFI:T:WPA;S:net;P:secret;;",
            "no-camera",
            new String(new char[5000]).replace('\0', 'a'),
        }) {
            phone.sayAsScanner("code " + hostile);
            assertNotNull("the scanner goes on", phone.scanner());
            assertTrue(hostile, phone.texts().contains("cannot open this"));
        }
        phone.sayAsScanner("transceive 1 00a4");
        assertNotNull("what is no code is not heard", phone.scanner());
        assertEquals(Collections.emptyList(), asked);
        phone.sayAsScanner("code " + link);
        assertNull("the camera is let go", phone.scanner());
        assertNull(phone.web());
        untilShown("Acme Shop");
        phone.button("Agree").performClick();
        assertEquals(link, phone.webShadow().getLastLoadedUrl());
    }

    @Test
    public void theCameraIsAskedForWhenThePersonScansAndARefusalLeavesPasting() {
        phone.start(null);
        phone.button("Scan code").performClick();
        phone.button("Scan code").performClick();
        assertNull("the person is asked first", phone.scanner());
        assertFalse("a double tap is no refusal", phone.texts().contains("The camera cannot be used"));
        answerCamera(PackageManager.PERMISSION_DENIED);
        assertNull(phone.scanner());
        assertTrue(phone.texts().contains("The camera cannot be used"));
        assertNotNull(phone.find(EditText.class));
        phone.button("Scan code").performClick();
        answerCamera(PackageManager.PERMISSION_GRANTED);
        assertNotNull(phone.scanner());
    }

    @Test
    public void aLinkThatComesWhileTheCameraIsAskedForGoesFirst() {
        phone.start(null);
        phone.button("Scan code").performClick();
        phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(link)));
        answerCamera(PackageManager.PERMISSION_GRANTED);
        assertNull(phone.scanner());
        untilShown("Acme Shop");
    }

    @Test
    public void theScannerEndsWithBackInTheBackgroundAndWithoutACamera() {
        scan();
        phone.activity.onBackPressed();
        assertNull(phone.scanner());
        assertFalse("the app stays", phone.activity.isFinishing());
        scan();
        phone.button("Back").performClick();
        assertNull(phone.scanner());
        scan();
        phone.controller.pause().stop();
        assertNull(phone.scanner());
        scan();
        phone.sayAsScanner("no-camera");
        assertNull(phone.scanner());
        assertTrue(phone.texts().contains("The camera cannot be used"));
        scan();
        PhoneWebView shown = Shadow.extract(phone.scanner());
        assertTrue(shown.getWebViewClient().onRenderProcessGone(phone.scanner(), null));
        assertNull(phone.scanner());
    }

    private void scan() {
        ((ShadowApplication) shadowOf(RuntimeEnvironment.getApplication())).grantPermissions(Manifest.permission.CAMERA);
        phone.start(null);
        phone.button("Scan code").performClick();
        assertNotNull(phone.scanner());
    }

    private void answerCamera(int answer) {
        // As Android delivers it: until then it refuses every other request of the activity.
        Intent results = new Intent()
                .putExtra(PackageManager.EXTRA_REQUEST_PERMISSIONS_NAMES, new String[] {Manifest.permission.CAMERA})
                .putExtra(PackageManager.EXTRA_REQUEST_PERMISSIONS_RESULTS, new int[] {answer});
        ReflectionHelpers.callInstanceMethod(
                Activity.class, phone.activity, "dispatchRequestPermissionsResult",
                ClassParameter.from(int.class, 2), ClassParameter.from(Intent.class, results));
    }

    private void untilShown(final String text) {
        phone.until("never shown: " + text, new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return phone.texts().contains(text);
            }
        });
    }
}
