package assay.shell;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.content.Context;
import android.content.Intent;
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
import org.robolectric.annotation.Config;

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

    private void untilShown(final String text) {
        phone.until("never shown: " + text, new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return phone.texts().contains(text);
            }
        });
    }
}
