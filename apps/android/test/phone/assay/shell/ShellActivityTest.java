package assay.shell;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.Manifest;
import android.app.AlertDialog;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.content.pm.PackageManager;
import android.content.res.Configuration;
import android.net.ConnectivityManager;
import android.net.Uri;
import android.nfc.AvailableNfcAntenna;
import android.nfc.NfcAdapter;
import android.nfc.NfcAntennaInfo;
import android.os.Vibrator;
import android.provider.Settings;
import android.view.View;
import android.view.WindowManager;
import android.webkit.PermissionRequest;
import android.webkit.WebResourceRequest;
import android.webkit.WebResourceResponse;
import android.webkit.WebSettings;
import android.webkit.WebView;
import android.widget.EditText;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowAlertDialog;
import org.robolectric.shadows.ShadowApplication;
import org.robolectric.shadows.ShadowVibrator;

@RunWith(RobolectricTestRunner.class)
@Config(shadows = {FieldIsoDep.class, PhoneWebView.class, PhoneNfcAdapter.class})
public class ShellActivityTest {
    private static final String ORIGIN = BuildConfig.ORIGINS[0];
    private static final String PAGE = ORIGIN + "/verify/vs_1";
    private static final String LINK = PAGE + "#handoff=secret-token";
    private static final String SELECT = "00a4040c07a0000002471001";

    private final Phone phone = new Phone();
    /** Answers with 9000 and what it was sent. */
    private final FieldIsoDep.Document echo = new FieldIsoDep.Document() {
        @Override
        public byte[] transceive(byte[] command) {
            byte[] answer = java.util.Arrays.copyOf(command, command.length + 2);
            answer[command.length] = (byte) 0x90;
            return answer;
        }

        @Override
        public void powerUp() {}
    };

    @Before
    public void reset() {
        FieldIsoDep.reset();
        PhoneKeyStore.install();
        Phone.hasNfc(true);
        new NfcSwitch().turn(true);
        PhoneNfcAdapter.starts = 0;
    }

    @After
    public void removeKeyStore() {
        PhoneKeyStore.remove();
    }

    // --- what is opened ------------------------------------------------------------------------------------

    @Test
    public void aLinkToAVerificationOfTheOriginIsOpened() {
        phone.start(LINK);
        assertEquals(LINK, phone.webShadow().getLastLoadedUrl());
        assertEquals("the script runs in pages of the origin only", ORIGIN, phone.webShadow().scriptOrigin);
        assertTrue(phone.webShadow().script.contains("\"chipTransport\""));
        phone.load(PAGE);
        assertEquals(Uri.parse(ORIGIN), phone.webShadow().offeredTo);
        assertTrue(phone.hasPort());
    }

    @Test
    public void aLinkToAnythingElseIsNotOpened() {
        for (String other : new String[] {
            "https://evil.test/verify/vs_1", ORIGIN + "/dashboard", "file:///data/x", "javascript:alert(1)"
        }) {
            phone.start(other);
            assertNull(other, phone.web());
            Intent again = new Intent(Intent.ACTION_VIEW, Uri.parse(other));
            phone.controller.newIntent(again);
            assertNull(other, phone.web());
        }
    }

    @Test
    public void aPageOfAnotherOriginGetsNoPort() {
        phone.start(LINK).load("https://evil.test/verify/vs_1");
        assertFalse(phone.hasPort());
        phone.load("about:blank");
        assertFalse(phone.hasPort());
    }

    @Test
    public void aReloadTakesThePortFromThePageBefore() {
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + SELECT);
        List<String> before = new ArrayList<>(phone.heard);
        phone.client().onPageStarted(phone.web(), PAGE, null);
        phone.idle();
        phone.lay(echo);
        assertEquals("nothing is told to the page that is gone", before, phone.heard);
        phone.webShadow().offered = null;
        phone.load(PAGE);
        phone.say("transceive 1 " + SELECT);
        phone.untilHeard("answer 1 " + SELECT + "9000");
    }

    @Test
    public void nothingIsLoadedFromElsewhere() {
        phone.start(LINK).load(PAGE);
        assertFalse(phone.client().shouldOverrideUrlLoading(phone.web(), request(PAGE, true)));
        assertNull(phone.client().shouldInterceptRequest(phone.web(), request(PAGE, false)));
        assertTrue(phone.client().shouldOverrideUrlLoading(phone.web(), request("https://partner.test/back", true)));
        Intent browser = shadowOf(phone.activity).getNextStartedActivity();
        assertEquals("https://partner.test/back", browser.getDataString());
        for (String hostile : new String[] {"intent://x#Intent;end", "file:///data/x", "content://x", "market://x"}) {
            assertTrue(hostile, phone.client().shouldOverrideUrlLoading(phone.web(), request(hostile, true)));
            assertNull(hostile, shadowOf(phone.activity).getNextStartedActivity());
        }
        assertTrue(phone.client().shouldOverrideUrlLoading(phone.web(), redirect("https://evil.test/")));
        assertNull("where the service leads elsewhere, nobody follows", shadowOf(phone.activity).getNextStartedActivity());
        assertEquals(View.GONE, phone.web().getVisibility());
        assertFalse(phone.client().shouldOverrideUrlLoading(phone.web(), redirect(PAGE)));
        assertTrue(phone.client().shouldOverrideUrlLoading(phone.web(), request("https://evil.test/", false)));
        assertNull("a frame starts nothing", shadowOf(phone.activity).getNextStartedActivity());
        assertEquals(
                403,
                phone.client().shouldInterceptRequest(phone.web(), request("https://evil.test/x.js", false)).getStatusCode());
    }

    @Test
    public void thePageHasNoFilesNoMixedContentAndNoScreenshots() {
        phone.start(LINK);
        WebSettings settings = phone.web().getSettings();
        assertFalse(settings.getAllowFileAccess());
        assertFalse(settings.getAllowContentAccess());
        assertFalse(settings.getAllowFileAccessFromFileURLs());
        assertFalse(settings.getAllowUniversalAccessFromFileURLs());
        assertEquals(WebSettings.MIXED_CONTENT_NEVER_ALLOW, settings.getMixedContentMode());
        int flags = phone.activity.getWindow().getAttributes().flags;
        assertTrue((flags & WindowManager.LayoutParams.FLAG_SECURE) != 0);
        assertTrue("nothing is written to the log", phone.webShadow().getWebChromeClient().onConsoleMessage(null));
    }

    @Test
    public void aPastedLinkIsOpenedOnlyWhenItIsOfTheOrigin() {
        phone.start(null);
        EditText field = phone.find(EditText.class);
        field.setText("https://evil.test/verify/vs_1");
        phone.button("Open").performClick();
        assertNull(phone.web());
        assertNotNull(field.getError());
        field.setText(" " + LINK + " ");
        phone.button("Open").performClick();
        assertEquals(LINK, phone.webShadow().getLastLoadedUrl());
    }

    // --- life cycle ----------------------------------------------------------------------------------------

    @Test
    public void turningThePhoneReloadsNothing() throws PackageManager.NameNotFoundException {
        phone.start(LINK).load(PAGE);
        WebView before = phone.web();
        ComponentName name = new ComponentName(phone.activity, ShellActivity.class);
        ActivityInfo info = phone.activity.getPackageManager().getActivityInfo(name, 0);
        for (int change : new int[] {
            ActivityInfo.CONFIG_ORIENTATION, ActivityInfo.CONFIG_SCREEN_SIZE, ActivityInfo.CONFIG_UI_MODE,
            ActivityInfo.CONFIG_KEYBOARD_HIDDEN, ActivityInfo.CONFIG_FONT_SCALE, ActivityInfo.CONFIG_LOCALE,
        }) assertTrue("handled here: " + change, (info.configChanges & change) != 0);
        Configuration turned = new Configuration(phone.activity.getResources().getConfiguration());
        turned.orientation = Configuration.ORIENTATION_LANDSCAPE;
        phone.controller.configurationChange(turned);
        assertSame(phone.activity, phone.controller.get());
        assertSame(before, phone.web());
        assertEquals(0, phone.webShadow().getReloadInvocations());
        assertTrue(phone.hasPort());
    }

    @Test
    public void afterTheProcessWasEndedThePageGoesOnWhereItWas() throws IOException {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"assay:vs_1:cancel\":\"consent-token\"}");
        phone.endProcessAndReturn();
        assertEquals("the token of the link is not used twice", PAGE, phone.webShadow().getLastLoadedUrl());
        assertTrue(phone.webShadow().script.contains("\"assay:vs_1:cancel\":\"consent-token\""));
        assertFalse("nothing lies there in plain", storedText().contains("consent-token"));
        assertTrue(kept().length() > 0);
    }

    @Test
    public void aPastedLinkSurvivesTheEndOfTheProcess() {
        phone.start(null);
        phone.find(EditText.class).setText(LINK);
        phone.button("Open").performClick();
        phone.load(PAGE);
        phone.endProcessAndReturn();
        assertEquals(PAGE, phone.webShadow().getLastLoadedUrl());
    }

    @Test
    public void theSameLinkOpenedAgainGoesOn() {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(PAGE)));
        assertTrue(phone.webShadow().script.contains("consent-token"));
        // The person swiped the app away, which Android does not report, and opens the link again.
        phone.start(PAGE);
        assertTrue(phone.webShadow().script.contains("consent-token"));
    }

    @Test
    public void anotherSessionFindsNothingOfTheOneBefore() {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(ORIGIN + "/verify/vs_2")));
        assertFalse(phone.webShadow().script.contains("consent-token"));
        assertFalse(kept().exists());
        assertTrue(PhoneKeyStore.KEYS.isEmpty());
    }

    @Test
    public void whatWasKeptGoesWithTheShell() {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        assertTrue(kept().exists());
        phone.activity.finish();
        phone.controller.pause().stop().destroy();
        assertFalse(kept().exists());
        assertTrue("and so does its key", PhoneKeyStore.KEYS.isEmpty());
    }

    @Test
    public void whatWasKeptGoesWhenThePageHasNothingMore() {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        phone.say("keep ");
        assertFalse(kept().exists());
        phone.say("keep no json");
        assertFalse(kept().exists());
        phone.say("keep {\"a\":\"" + new String(new char[KeptState.MAX_CHARACTERS]).replace('\0', 'x') + "\"}");
        assertFalse("not a place for more than some tokens", kept().exists());
    }

    @Test
    public void whatWasKeptIsOfNoUseAfterAnHour() {
        Context context = RuntimeEnvironment.getApplication();
        KeptState state = new KeptState(context, 1_000_000);
        state.keep(PAGE, "{\"a\":\"b\"}", 1_000_000);
        long lastMoment = 1_000_000 + KeptState.LIFETIME_MILLISECONDS - 1;
        assertEquals("{\"a\":\"b\"}", new KeptState(context, lastMoment).entriesFor(PAGE));
        // Keeping more does not make it younger.
        new KeptState(context, lastMoment).keep(PAGE, "{\"a\":\"c\"}", lastMoment);
        assertNull(new KeptState(context, lastMoment + 1).entriesFor(PAGE));
        assertFalse(kept().exists());
    }

    @Test
    public void whatWasTamperedWithIsNotGivenToThePage() throws IOException {
        Context context = RuntimeEnvironment.getApplication();
        new KeptState(context, 0).keep(PAGE, "{\"a\":\"b\"}", 0);
        byte[] sealed = Files.readAllBytes(kept().toPath());
        sealed[sealed.length - 1] ^= 1;
        Files.write(kept().toPath(), sealed);
        assertNull(new KeptState(context, 0).entriesFor(PAGE));
        new KeptState(context, 0).keep(PAGE, "{\"a\":\"b\"}", 0);
        PhoneKeyStore.KEYS.clear();
        assertNull("another key opens nothing", new KeptState(context, 0).entriesFor(PAGE));
    }

    @Test
    public void withoutAKeyStoreNothingIsWritten() {
        PhoneKeyStore.remove();
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        assertFalse(kept().exists());
        phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(PAGE)));
        assertTrue("but this process still knows it", phone.webShadow().script.contains("consent-token"));
    }

    @Test
    public void aBrowserEngineThatWasEndedIsReplaced() {
        phone.start(LINK).load(PAGE);
        phone.say("keep {\"a\":\"consent-token\"}");
        WebView before = phone.web();
        assertTrue(phone.client().onRenderProcessGone(before, null));
        assertNotSame(before, phone.web());
        assertEquals(PAGE, phone.webShadow().getLastLoadedUrl());
        assertTrue(phone.webShadow().script.contains("consent-token"));
    }

    @Test
    public void aPageThatCouldNotBeLoadedIsLoadedAgainWhenTheNetworkIsBack() {
        phone.start(LINK);
        WebView before = phone.web();
        phone.client().onReceivedError(before, request(PAGE, false), null);
        assertEquals("a part of the page is the page's affair", View.VISIBLE, before.getVisibility());
        phone.client().onReceivedError(before, request(LINK, true), null);
        phone.client().onReceivedError(before, request(LINK, true), null);
        assertEquals(View.GONE, before.getVisibility());
        phone.button("Try again").performClick();
        assertNotSame(before, phone.web());
        assertEquals("with its token, which nobody has used", LINK, phone.webShadow().getLastLoadedUrl());
        WebView second = phone.web();
        phone.client().onReceivedError(second, request(LINK, true), null);
        ConnectivityManager connectivity =
                (ConnectivityManager) phone.activity.getSystemService(Context.CONNECTIVITY_SERVICE);
        for (ConnectivityManager.NetworkCallback callback : shadowOf(connectivity).getNetworkCallbacks())
            callback.onAvailable(null);
        phone.idle();
        assertNotSame(second, phone.web());
        WebView loaded = phone.web();
        for (ConnectivityManager.NetworkCallback callback : shadowOf(connectivity).getNetworkCallbacks())
            callback.onAvailable(null);
        phone.idle();
        assertSame("a page that is there is left alone", loaded, phone.web());
    }

    @Test
    public void backGivesUpTheReadingThenGoesBackThenAsks() {
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + SELECT);
        phone.activity.onBackPressed();
        phone.untilHeard("lost 1");
        assertNull(ShadowAlertDialog.getLatestAlertDialog());
        phone.webShadow().setCanGoBack(true);
        phone.activity.onBackPressed();
        assertEquals(1, phone.webShadow().getGoBackInvocations());
        phone.webShadow().setCanGoBack(false);
        phone.activity.onBackPressed();
        AlertDialog question = ShadowAlertDialog.getLatestAlertDialog();
        question.getButton(AlertDialog.BUTTON_POSITIVE).performClick();
        phone.idle();
        assertFalse(phone.activity.isFinishing());
        phone.activity.onBackPressed();
        ShadowAlertDialog.getLatestAlertDialog().getButton(AlertDialog.BUTTON_NEGATIVE).performClick();
        phone.idle();
        assertTrue(phone.activity.isFinishing());
    }

    // --- the chip ------------------------------------------------------------------------------------------

    @Test
    public void theReaderIsOnOnlyWhileTheShellIsInFront() {
        phone.start(LINK).load(PAGE);
        assertTrue(phone.nfc().isInReaderMode());
        int wanted = NfcAdapter.FLAG_READER_NFC_A
                | NfcAdapter.FLAG_READER_NFC_B
                | NfcAdapter.FLAG_READER_SKIP_NDEF_CHECK;
        assertEquals(wanted, PhoneNfcAdapter.flags);
        assertEquals(5_000, PhoneNfcAdapter.presenceCheckMilliseconds);
        phone.say("transceive 1 " + SELECT);
        phone.controller.pause();
        phone.untilHeard("lost 1");
        assertFalse(phone.nfc().isInReaderMode());
        phone.say("transceive 2 " + SELECT);
        assertFalse("also for a page that goes on behind", phone.nfc().isInReaderMode());
        phone.controller.resume();
        assertTrue(phone.nfc().isInReaderMode());
        phone.lay(echo);
        phone.untilHeard("answer 2 " + SELECT + "9000");
    }

    @Test
    public void aCommandWaitsForAChipAndIsFeltAndAnswered() {
        FieldIsoDep.maxTransceiveLength = 65_279;
        FieldIsoDep.extendedLength = true;
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + SELECT);
        assertEquals(Collections.emptyList(), phone.heard);
        phone.lay(echo);
        phone.untilHeard("answer 1 " + SELECT + "9000");
        assertEquals("limits 65279 65279 1", phone.heard.get(0));
        assertEquals(10_000, FieldIsoDep.timeout);
        assertTrue("contact is felt", vibrator().isVibrating() || vibrator().getMilliseconds() > 0);
        phone.say("transceive 2 00b0");
        phone.untilHeard("answer 2 00b09000");
        assertEquals(1, FieldIsoDep.connections);
    }

    @Test
    public void theEndOfAReadingIsFelt() {
        phone.start(LINK).load(PAGE);
        phone.say("feel read");
        assertEquals(4, vibrator().getPattern().length);
        phone.say("feel problem");
        assertEquals(2, vibrator().getPattern().length);
    }

    @Test
    public void aChipThatIsLostIsToldAndFoundAgain() {
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + SELECT);
        phone.lay(echo);
        phone.untilHeard("answer 1 " + SELECT + "9000");
        phone.takeAway();
        phone.say("transceive 2 00b0");
        phone.untilHeard("lost 2");
        int starts = PhoneNfcAdapter.starts;
        phone.say("transceive 3 00b0");
        assertEquals("a document that lies there is found by a reader that starts anew", starts + 1, PhoneNfcAdapter.starts);
        phone.lay(echo);
        phone.untilHeard("answer 3 00b09000");
        assertEquals(2, FieldIsoDep.connections);
    }

    @Test
    public void aDocumentThatLiesThereAlreadyIsFound() {
        phone.start(LINK).load(PAGE);
        phone.lay(echo);
        assertEquals("nobody asked for it yet", Collections.emptyList(), phone.heard);
        phone.say("transceive 1 00b0");
        phone.untilHeard("answer 1 00b09000");
    }

    @Test
    public void aChipIsResetByConnectingAnew() {
        phone.start(LINK).load(PAGE);
        phone.say("reset 1");
        phone.untilHeard("done 1");
        assertEquals(0, FieldIsoDep.connections);
        phone.say("transceive 2 00b0");
        phone.lay(echo);
        phone.untilHeard("answer 2 00b09000");
        phone.say("reset 3");
        phone.untilHeard("done 3");
        assertEquals(2, FieldIsoDep.connections);
        phone.say("transceive 4 00b0");
        phone.untilHeard("answer 4 00b09000");
        phone.takeAway();
        phone.say("reset 5");
        phone.untilHeard("lost 5");
    }

    @Test
    public void aCommandThatIsTooLongIsLostAndNotCut() {
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + new String(new char[262]).replace("\0", "00"));
        phone.lay(echo);
        phone.untilHeard("lost 1");
    }

    @Test
    public void anAnswerThatComesTooLateAnswersNothing() {
        final CountDownLatch thinking = new CountDownLatch(1);
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 00b0");
        phone.lay(new FieldIsoDep.Document() {
            @Override
            public byte[] transceive(byte[] command) throws IOException {
                try {
                    thinking.await();
                } catch (InterruptedException error) {
                    throw new IOException(error);
                }
                return new byte[] {0x11, (byte) 0x90, 0};
            }

            @Override
            public void powerUp() {}
        });
        phone.until("not connected", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return phone.heard.contains("limits 261 258 0");
            }
        });
        phone.say("cancel");
        phone.untilHeard("lost 1");
        FieldIsoDep.inField = echo;
        thinking.countDown();
        phone.say("transceive 2 00b0");
        phone.untilHeard("answer 2 00b09000");
        assertFalse(phone.heard.contains("answer 1 119000"));
    }

    @Test
    public void aReaderThatIsOffIsToldWithTheWayToItsSwitch() {
        NfcSwitch nfc = new NfcSwitch();
        nfc.turn(false);
        phone.start(LINK);
        assertTrue(phone.webShadow().script.contains("\"reader\":\"off\""));
        phone.load(PAGE);
        phone.say("transceive 1 00b0");
        phone.untilHeard("unavailable 1");
        AlertDialog dialog = ShadowAlertDialog.getLatestAlertDialog();
        dialog.getButton(AlertDialog.BUTTON_POSITIVE).performClick();
        phone.idle();
        assertEquals(Settings.ACTION_NFC_SETTINGS, shadowOf(phone.activity).getNextStartedActivity().getAction());
        phone.say("settings");
        assertEquals(Settings.ACTION_NFC_SETTINGS, shadowOf(phone.activity).getNextStartedActivity().getAction());
        nfc.turn(true);
        phone.activity.sendBroadcast(new Intent(NfcAdapter.ACTION_ADAPTER_STATE_CHANGED));
        phone.untilHeard("reader ready");
        phone.say("transceive 2 00b0");
        phone.lay(echo);
        phone.untilHeard("answer 2 00b09000");
        nfc.turn(false);
        phone.say("transceive 3 00b0");
        phone.untilHeard("unavailable 3");
    }

    @Test
    public void aPhoneWithoutAReaderSaysSo() {
        Phone.hasNfc(false);
        phone.start(LINK);
        assertTrue(phone.webShadow().script.contains("\"reader\":\"absent\""));
        phone.load(PAGE);
        phone.say("transceive 1 00b0");
        phone.untilHeard("unavailable 1");
        assertNotNull(ShadowAlertDialog.getLatestAlertDialog());
        phone.controller.pause().stop().destroy();
    }

    @Test
    public void thePageLearnsWhereThePhoneReads() {
        phone.start(LINK);
        assertTrue(phone.webShadow().script, phone.webShadow().script.contains("\"toldBy\":\"maker\""));
        phone.nfc().setNfcAntennaInfo(new NfcAntennaInfo(
                70, 150, false, Collections.singletonList(new AvailableNfcAntenna(35, 120))));
        phone.controller.newIntent(new Intent(Intent.ACTION_VIEW, Uri.parse(PAGE)));
        String script = phone.webShadow().script;
        assertTrue(script, script.contains("\"at\":\"top\""));
        assertTrue(script, script.contains("\"toldBy\":\"phone\""));
        assertTrue(script, script.contains("\"fromLeft\":0.5"));
    }

    @Test
    public void aSoftwareChipIsReachedThroughTheShell() throws IOException {
        String port = System.getProperty("assay.chip.port");
        assertNotNull("run it with npm run android -- test", port);
        phone.start(LINK).load(PAGE);
        phone.say("transceive 1 " + SELECT);
        phone.lay(new VirtualDocument(Integer.parseInt(port)));
        phone.untilHeard("answer 1 9000");
        phone.say("transceive 2 0084000008");
        phone.until("no challenge", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return last().matches("answer 2 [0-9a-f]{16}9000");
            }
        });
        phone.say("transceive 3 00ee000000");
        phone.until("no refusal", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return last().matches("answer 3 6[0-9a-f]{3}");
            }
        });
    }

    // --- the camera ----------------------------------------------------------------------------------------

    @Test
    public void theCameraIsForTheOriginAndForTheCameraAlone() {
        phone.start(LINK).load(PAGE);
        String[] video = {PermissionRequest.RESOURCE_VIDEO_CAPTURE};
        assertEquals("denied", ask("https://evil.test/", video));
        assertEquals("denied", ask(ORIGIN, new String[] {PermissionRequest.RESOURCE_AUDIO_CAPTURE}));
        assertEquals(
                "denied",
                ask(ORIGIN, new String[] {
                    PermissionRequest.RESOURCE_VIDEO_CAPTURE, PermissionRequest.RESOURCE_AUDIO_CAPTURE
                }));
        Asked asked = new Asked(ORIGIN, video);
        phone.webShadow().getWebChromeClient().onPermissionRequest(asked);
        assertNull("the person is asked first", asked.outcome);
        phone.activity.onRequestPermissionsResult(
                1, new String[] {Manifest.permission.CAMERA}, new int[] {PackageManager.PERMISSION_DENIED});
        assertEquals("denied", asked.outcome);
        ((ShadowApplication) shadowOf(RuntimeEnvironment.getApplication())).grantPermissions(Manifest.permission.CAMERA);
        assertEquals("granted " + PermissionRequest.RESOURCE_VIDEO_CAPTURE, ask(ORIGIN, video));
    }

    @Test
    public void theScannerLoadsFilesOfTheAppAndGivesTheCameraToThemAlone() throws IOException {
        ((ShadowApplication) shadowOf(RuntimeEnvironment.getApplication())).grantPermissions(Manifest.permission.CAMERA);
        phone.start(null);
        phone.button("Scan code").performClick();
        PhoneWebView shown = Shadow.extract(phone.scanner());
        assertEquals(ScanView.ORIGIN + "/scan.html", shown.getLastLoadedUrl());
        for (String name : new String[] {"/scan.html", "/scan.js", "/qr-code.js"}) {
            WebResourceResponse answer = shown.getWebViewClient()
                    .shouldInterceptRequest(phone.scanner(), request(ScanView.ORIGIN + name, false));
            assertEquals(name, 200, answer.getStatusCode());
            assertTrue(answer.getResponseHeaders().get("Content-Security-Policy").startsWith("default-src 'none'"));
            assertTrue(name, answer.getData().read() > 0);
        }
        for (String other : new String[] {
            ScanView.ORIGIN + "/chip-transport.js", ScanView.ORIGIN + "/../scan.js", ORIGIN + "/scan.js", "https://evil.test/"
        }) {
            assertEquals(other, 404, shown.getWebViewClient()
                    .shouldInterceptRequest(phone.scanner(), request(other, false)).getStatusCode());
            assertTrue(other, shown.getWebViewClient().shouldOverrideUrlLoading(phone.scanner(), request(other, true)));
        }
        for (String[] wanted : new String[][] {
            {"granted " + PermissionRequest.RESOURCE_VIDEO_CAPTURE, ScanView.ORIGIN + "/", PermissionRequest.RESOURCE_VIDEO_CAPTURE},
            {"denied", ScanView.ORIGIN + "/", PermissionRequest.RESOURCE_AUDIO_CAPTURE},
            {"denied", ORIGIN, PermissionRequest.RESOURCE_VIDEO_CAPTURE},
        }) {
            Asked asked = new Asked(wanted[1], new String[] {wanted[2]});
            shown.getWebChromeClient().onPermissionRequest(asked);
            assertEquals(wanted[0], asked.outcome);
        }
    }

    // --- the frames -------------------------------------------------------------------------------------------------

    @Test
    public void theSecureHardwareVouchesForFramesWithAKeyForTheNonce() throws Exception {
        phone.start(LINK).load(PAGE);
        phone.say("sign 1 0102");
        phone.untilHeard("refused 1");
        phone.say("makekey 2 a1b2c3");
        phone.untilHeard("certificates 2 a1b2c3.0102");
        phone.say("sign 3 0102");
        phone.until("no signature", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return last().startsWith("answer 3 ");
            }
        });
        String hex = last().substring("answer 3 ".length());
        byte[] signature = new byte[hex.length() / 2];
        for (int index = 0; index < signature.length; index++)
            signature[index] = (byte) Integer.parseInt(hex.substring(2 * index, 2 * index + 2), 16);
        java.security.Signature check = java.security.Signature.getInstance("SHA256withECDSA", "SunEC");
        check.initVerify(PhoneKeyStore.CHAINS.get("frames")[0].getPublicKey());
        check.update(new byte[] {1, 2});
        assertTrue(check.verify(signature));
        phone.activity.finish();
        phone.controller.pause().stop().destroy();
        phone.until("the key is left behind", new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return PhoneKeyStore.KEYS.get("frames") == null;
            }
        });
    }

    @Test
    public void aPhoneThatCannotVouchSaysSo() {
        PhoneKeyStore.remove();
        phone.start(LINK).load(PAGE);
        phone.say("makekey 1 a1b2c3");
        phone.untilHeard("refused 1");
    }

    // --- helpers -------------------------------------------------------------------------------------------

    private String last() {
        return phone.heard.isEmpty() ? "" : phone.heard.get(phone.heard.size() - 1);
    }

    private String ask(String origin, String[] resources) {
        Asked asked = new Asked(origin, resources);
        phone.webShadow().getWebChromeClient().onPermissionRequest(asked);
        return asked.outcome;
    }

    private ShadowVibrator vibrator() {
        return shadowOf((Vibrator) phone.activity.getSystemService(Context.VIBRATOR_SERVICE));
    }

    private static File kept() {
        return new File(RuntimeEnvironment.getApplication().getNoBackupFilesDir(), "kept");
    }

    private static String storedText() throws IOException {
        return new String(Files.readAllBytes(kept().toPath()), StandardCharsets.ISO_8859_1);
    }

    private static WebResourceRequest redirect(String address) {
        return request(address, true, true);
    }

    private static WebResourceRequest request(String address, boolean mainFrame) {
        return request(address, mainFrame, false);
    }

    private static WebResourceRequest request(final String address, final boolean mainFrame, final boolean redirect) {
        return new WebResourceRequest() {
            @Override
            public Uri getUrl() {
                return Uri.parse(address);
            }

            @Override
            public boolean isForMainFrame() {
                return mainFrame;
            }

            @Override
            public boolean isRedirect() {
                return redirect;
            }

            @Override
            public boolean hasGesture() {
                return false;
            }

            @Override
            public String getMethod() {
                return "GET";
            }

            @Override
            public Map<String, String> getRequestHeaders() {
                return Collections.emptyMap();
            }
        };
    }

    private static final class NfcSwitch {
        void turn(boolean on) {
            NfcAdapter adapter = NfcAdapter.getDefaultAdapter(RuntimeEnvironment.getApplication());
            shadowOf(adapter).setEnabled(on);
        }
    }

    private static final class Asked extends PermissionRequest {
        private final String origin;
        private final String[] resources;
        String outcome;

        Asked(String origin, String[] resources) {
            this.origin = origin;
            this.resources = resources;
        }

        @Override
        public Uri getOrigin() {
            return Uri.parse(origin);
        }

        @Override
        public String[] getResources() {
            return resources;
        }

        @Override
        public void grant(String[] granted) {
            outcome = "granted " + String.join(" ", granted);
        }

        @Override
        public void deny() {
            outcome = "denied";
        }
    }
}
