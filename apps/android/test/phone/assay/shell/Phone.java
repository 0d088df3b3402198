package assay.shell;

import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.content.Intent;
import android.content.pm.PackageManager;
import android.net.Uri;
import android.nfc.NfcAdapter;
import android.os.Bundle;
import android.os.Looper;
import android.os.Parcel;
import android.view.View;
import android.view.ViewGroup;
import android.webkit.WebMessage;
import android.webkit.WebMessagePort;
import android.webkit.WebView;
import android.webkit.WebViewClient;
import android.widget.Button;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.robolectric.Robolectric;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.fakes.RoboWebMessagePort;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowNfcAdapter;
import org.robolectric.util.ReflectionHelpers;

/** A phone with the shell on it. The test plays the person, the document and the page. */
final class Phone {
    private static final long PATIENCE_MILLISECONDS = 60_000;

    ActivityController<ShellActivity> controller;
    ShellActivity activity;
    /** The shell's messages to the page, in order. */
    final List<String> heard = new ArrayList<>();
    private WebMessagePort pageEnd;

    /** The app's origins: the property `assay.origins`, separated by spaces. */
    static String[] origins() {
        String origins = System.getProperty("assay.origins", "https://verify.example.org");
        return origins.isEmpty() ? new String[0] : origins.split(" ");
    }

    static void hasNfc(boolean has) {
        shadowOf(RuntimeEnvironment.getApplication().getPackageManager())
                .setSystemFeature(PackageManager.FEATURE_NFC, has);
        ShadowNfcAdapter.setNfcHardwareExists(has);
    }

    /** Like a start by the launcher, or by a link to `link`. */
    Phone start(String link) {
        Intent intent = new Intent(RuntimeEnvironment.getApplication(), ShellActivity.class);
        if (link != null) intent.setAction(Intent.ACTION_VIEW).setData(Uri.parse(link));
        controller = Robolectric.buildActivity(ShellActivity.class, intent);
        activity = controller.get();
        controller.setup();
        return this;
    }

    /** Android ends the process in the background, and the person returns to the app. */
    void endProcessAndReturn() {
        Bundle saved = new Bundle();
        controller.pause().stop().saveInstanceState(saved);
        Intent intent = activity.getIntent();
        Parcel parcel = Parcel.obtain();
        saved.writeToParcel(parcel, 0);
        parcel.setDataPosition(0);
        Bundle restored = Bundle.CREATOR.createFromParcel(parcel);
        restored.setClassLoader(ShellActivity.class.getClassLoader());
        heard.clear();
        pageEnd = null;
        controller = Robolectric.buildActivity(ShellActivity.class, intent);
        activity = controller.get();
        controller.create(restored).start().restoreInstanceState(restored).resume().visible();
    }

    /** Null while the first screen is shown. */
    WebView web() {
        return ReflectionHelpers.getField(activity, "page");
    }

    PhoneWebView webShadow() {
        return Shadow.extract(web());
    }

    WebViewClient client() {
        return webShadow().getWebViewClient();
    }

    PhoneNfcAdapter nfc() {
        return Shadow.extract(NfcAdapter.getDefaultAdapter(activity));
    }

    /** The page is there, at the address that it was loaded from or that it has given itself. */
    Phone load(String shownAt) {
        client().onPageStarted(web(), shownAt, null);
        webShadow().pushEntryToHistory(shownAt);
        client().onPageFinished(web(), shownAt);
        WebMessage offer = webShadow().offered;
        if (offer == null) return this;
        pageEnd = offer.getPorts()[0];
        pageEnd.setWebMessageCallback(new WebMessagePort.WebMessageCallback() {
            @Override
            public void onMessage(WebMessagePort port, WebMessage message) {
                heard.add(message.getData());
            }
        });
        return this;
    }

    /** Null while the scanner is not shown. */
    WebView scanner() {
        return ReflectionHelpers.getField(activity, "scanner");
    }

    /** The scanner's page is there, and says `message`. */
    void sayAsScanner(String message) {
        PhoneWebView shown = Shadow.extract(scanner());
        if (shown.offered == null) shown.getWebViewClient().onPageFinished(scanner(), shown.getLastLoadedUrl());
        shown.offered.getPorts()[0].postMessage(new WebMessage(message));
        idle();
    }

    boolean hasPort() {
        return pageEnd != null && !((RoboWebMessagePort) pageEnd).isClosed();
    }

    void say(String message) {
        pageEnd.postMessage(new WebMessage(message));
        idle();
    }

    /** All that is written on the screen. */
    String texts() {
        StringBuilder texts = new StringBuilder();
        for (View view : shown()) if (view instanceof TextView) texts.append(((TextView) view).getText()).append('\n');
        return texts.toString();
    }

    Button button(String text) {
        for (View view : shown())
            if (view instanceof Button && ((Button) view).getText().toString().equals(text)) return (Button) view;
        throw new AssertionError("No such button: " + text + " in " + texts());
    }

    <T extends View> T find(Class<T> type) {
        for (View view : shown()) if (type == view.getClass()) return type.cast(view);
        throw new AssertionError("Not shown: " + type);
    }

    private List<View> shown() {
        List<View> all = new ArrayList<>();
        all.add(activity.getWindow().getDecorView());
        for (int at = 0; at < all.size(); at++)
            if (all.get(at) instanceof ViewGroup)
                for (int index = 0; index < ((ViewGroup) all.get(at)).getChildCount(); index++)
                    all.add(((ViewGroup) all.get(at)).getChildAt(index));
        return all;
    }

    /** The person lays a document on the phone. */
    void lay(FieldIsoDep.Document document) {
        FieldIsoDep.inField = document;
        if (nfc().isInReaderMode()) nfc().dispatchTagDiscovered(null);
        idle();
    }

    void takeAway() {
        FieldIsoDep.inField = null;
    }

    void idle() {
        shadowOf(Looper.getMainLooper()).idle();
    }

    void until(String what, BooleanSupplier reached) {
        long giveUpAt = System.currentTimeMillis() + PATIENCE_MILLISECONDS;
        idle();
        while (!reached.getAsBoolean()) {
            assertTrue(what + "; heard " + heard, System.currentTimeMillis() < giveUpAt);
            try {
                Thread.sleep(2);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
            idle();
        }
    }

    void untilHeard(final String message) {
        until("never heard: " + message, new BooleanSupplier() {
            @Override
            public boolean getAsBoolean() {
                return heard.contains(message);
            }
        });
    }
}
