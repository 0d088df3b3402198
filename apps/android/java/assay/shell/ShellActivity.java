package assay.shell;

import android.Manifest;
import android.app.Activity;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.graphics.Bitmap;
import android.net.Uri;
import android.nfc.NfcAdapter;
import android.os.Bundle;
import android.text.InputType;
import android.view.View;
import android.view.WindowManager;
import android.view.inputmethod.EditorInfo;
import android.view.inputmethod.InputConnection;
import android.webkit.ConsoleMessage;
import android.webkit.CookieManager;
import android.webkit.PermissionRequest;
import android.webkit.WebChromeClient;
import android.webkit.WebMessage;
import android.webkit.WebMessagePort;
import android.webkit.WebResourceRequest;
import android.webkit.WebResourceResponse;
import android.webkit.WebSettings;
import android.webkit.WebStorage;
import android.webkit.WebView;
import android.webkit.WebViewClient;
import android.widget.Button;
import android.widget.EditText;
import android.widget.FrameLayout;
import android.widget.LinearLayout;
import android.widget.TextView;
import android.widget.Toast;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HashMap;

/**
 * The verify page of one origin, full screen, with the phone's NFC reader and camera. Nothing else is opened in here, and
 * nothing is kept: what the page stores goes when the shell is closed.
 */
public final class ShellActivity extends Activity implements ChipReader.Listener {
    private static final OwnOrigin OWN = new OwnOrigin(BuildConfig.ORIGIN);
    private static final int CAMERA_REQUEST = 1;

    private ChipReader reader;
    private WebView web;
    private WebMessagePort port;
    private boolean portOffered;
    private PermissionRequest cameraAsked;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        getWindow().addFlags(WindowManager.LayoutParams.FLAG_SECURE);
        WebView.setWebContentsDebuggingEnabled(BuildConfig.DEBUG);
        NfcAdapter adapter = NfcAdapter.getDefaultAdapter(this);
        if (adapter != null) reader = new ChipReader(this, adapter, this);
        // When Android ended the process and now brings it back, the page may go on with what it kept.
        if (saved == null) forget();
        String link = OWN.verificationLink(getIntent().getDataString());
        if (link == null) showEntry();
        else showPage(link);
    }

    @Override
    protected void onNewIntent(Intent intent) {
        super.onNewIntent(intent);
        String link = OWN.verificationLink(intent.getDataString());
        if (link == null) return;
        setIntent(intent);
        showPage(link);
    }

    @Override
    protected void onResume() {
        super.onResume();
        if (reader != null) reader.resume();
    }

    @Override
    protected void onPause() {
        if (reader != null) reader.pause();
        super.onPause();
    }

    @Override
    protected void onDestroy() {
        if (reader != null) reader.close();
        closePage();
        if (isFinishing()) forget();
        super.onDestroy();
    }

    /** Gives up a reading that waits for a chip; the page then offers to begin again. */
    @Override
    public void onBackPressed() {
        if (reader != null && reader.cancel()) return;
        super.onBackPressed();
    }

    private static void forget() {
        WebStorage.getInstance().deleteAllData();
        CookieManager.getInstance().removeAllCookies(null);
    }

    private void showEntry() {
        int space = Math.round(24 * getResources().getDisplayMetrics().density);
        TextView text = new TextView(this);
        text.setText(R.string.entry_text);
        text.setTextSize(18);
        final EditText field = new EditText(this);
        field.setHint(R.string.entry_hint);
        field.setInputType(InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_URI);
        field.setImeOptions(EditorInfo.IME_ACTION_GO | EditorInfo.IME_FLAG_NO_PERSONALIZED_LEARNING);
        field.setImportantForAutofill(View.IMPORTANT_FOR_AUTOFILL_NO);
        Button open = new Button(this);
        open.setText(R.string.entry_open);
        open.setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                String link = OWN.verificationLink(field.getText().toString());
                if (link == null) field.setError(getString(R.string.entry_wrong, BuildConfig.ORIGIN));
                else showPage(link);
            }
        });
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        column.setPadding(space, space, space, space);
        column.addView(text);
        column.addView(field);
        column.addView(open);
        show(column);
    }

    /** Every link gets a web view of its own: a link that differs only behind the # would not load the page anew. */
    private void showPage(String link) {
        closePage();
        web = new WebView(this) {
            @Override
            public InputConnection onCreateInputConnection(EditorInfo info) {
                InputConnection connection = super.onCreateInputConnection(info);
                // The keyboard is not to remember the number of a document.
                info.imeOptions |= EditorInfo.IME_FLAG_NO_PERSONALIZED_LEARNING;
                return connection;
            }
        };
        web.setImportantForAutofill(View.IMPORTANT_FOR_AUTOFILL_NO_EXCLUDE_DESCENDANTS);
        WebSettings settings = web.getSettings();
        settings.setJavaScriptEnabled(true);
        settings.setDomStorageEnabled(true);
        settings.setAllowFileAccess(false);
        settings.setAllowContentAccess(false);
        settings.setGeolocationEnabled(false);
        settings.setMediaPlaybackRequiresUserGesture(false);
        settings.setMixedContentMode(WebSettings.MIXED_CONTENT_NEVER_ALLOW);
        web.setWebViewClient(new Client());
        web.setWebChromeClient(new Chrome());
        if (reader != null && !PageScript.addTo(web, chipTransport(), BuildConfig.ORIGIN))
            Toast.makeText(this, R.string.web_view_old, Toast.LENGTH_LONG).show();
        show(web);
        web.loadUrl(link);
    }

    private void show(View view) {
        FrameLayout frame = new FrameLayout(this);
        frame.setFitsSystemWindows(true);
        frame.addView(view);
        setContentView(frame);
    }

    private void closePage() {
        closePort();
        if (web == null) return;
        web.clearCache(true);
        web.destroy();
        web = null;
    }

    // --- the chip ---------------------------------------------------------------------------------------------------

    private String chipTransport() {
        try (InputStream asset = getAssets().open("chip-transport.js")) {
            ByteArrayOutputStream script = new ByteArrayOutputStream();
            byte[] some = new byte[4096];
            for (int count = asset.read(some); count >= 0; count = asset.read(some)) script.write(some, 0, count);
            return script.toString("UTF-8");
        } catch (IOException error) {
            throw new IllegalStateException("The package holds no chip-transport.js", error);
        }
    }

    private void closePort() {
        if (reader != null) reader.cancel();
        if (port != null) port.close();
        port = null;
        portOffered = false;
    }

    /** The browser engine gives a port to the main frame only, and only while that shows the named origin. */
    private void offerPort() {
        portOffered = true;
        WebMessagePort[] ends = web.createWebMessageChannel();
        final WebMessagePort offered = ends[0];
        port = offered;
        offered.setWebMessageCallback(new WebMessagePort.WebMessageCallback() {
            @Override
            public void onMessage(WebMessagePort from, WebMessage message) {
                ChipMessage parsed = ChipMessage.parse(message.getData());
                if (parsed != null && port == offered) reader.handle(parsed);
            }
        });
        WebMessage offer = new WebMessage("chip-transport", new WebMessagePort[] {ends[1]});
        web.postWebMessage(offer, Uri.parse(BuildConfig.ORIGIN));
    }

    @Override
    public void onMessage(String message) {
        if (port != null) port.postMessage(new WebMessage(message));
    }

    @Override
    public void onTurnedOff() {
        Toast.makeText(this, R.string.nfc_off, Toast.LENGTH_LONG).show();
    }

    // --- the camera -------------------------------------------------------------------------------------------------

    private void answerCamera(boolean granted) {
        if (cameraAsked == null) return;
        if (granted) cameraAsked.grant(new String[] {PermissionRequest.RESOURCE_VIDEO_CAPTURE});
        else cameraAsked.deny();
        cameraAsked = null;
    }

    @Override
    public void onRequestPermissionsResult(int request, String[] permissions, int[] results) {
        if (request != CAMERA_REQUEST) return;
        answerCamera(results.length == 1 && results[0] == PackageManager.PERMISSION_GRANTED);
    }

    private final class Chrome extends WebChromeClient {
        @Override
        public void onPermissionRequest(PermissionRequest request) {
            String[] cameraAlone = {PermissionRequest.RESOURCE_VIDEO_CAPTURE};
            if (!OWN.owns(request.getOrigin().toString()) || !Arrays.equals(request.getResources(), cameraAlone)) {
                request.deny();
                return;
            }
            answerCamera(false);
            cameraAsked = request;
            if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) answerCamera(true);
            else requestPermissions(new String[] {Manifest.permission.CAMERA}, CAMERA_REQUEST);
        }

        @Override
        public void onPermissionRequestCanceled(PermissionRequest request) {
            if (request == cameraAsked) cameraAsked = null;
        }

        /** Handled here, so that nothing the page says ends up in the system's log. */
        @Override
        public boolean onConsoleMessage(ConsoleMessage message) {
            return true;
        }
    }

    // --- what is loaded ---------------------------------------------------------------------------------------------

    private final class Client extends WebViewClient {
        @Override
        public boolean shouldOverrideUrlLoading(WebView view, WebResourceRequest request) {
            if (OWN.owns(request.getUrl().toString())) return false;
            String scheme = request.getUrl().getScheme();
            if (request.isForMainFrame() && ("https".equals(scheme) || "http".equals(scheme))) {
                try {
                    startActivity(new Intent(Intent.ACTION_VIEW, request.getUrl()));
                } catch (ActivityNotFoundException error) {
                    // A phone without a browser stays on the page.
                }
            }
            return true;
        }

        @Override
        public void onPageStarted(WebView view, String url, Bitmap icon) {
            if (view == web) closePort();
        }

        @Override
        public void onPageFinished(WebView view, String url) {
            if (view == web && reader != null && !portOffered && OWN.owns(url)) offerPort();
        }

        /** Whatever is asked of another origin is refused here. Runs on a thread of the browser engine. */
        @Override
        public WebResourceResponse shouldInterceptRequest(WebView view, WebResourceRequest request) {
            String scheme = request.getUrl().getScheme();
            if (!"https".equals(scheme) && !"http".equals(scheme)) return null;
            if (OWN.owns(request.getUrl().toString())) return null;
            return new WebResourceResponse(
                    "text/plain",
                    "utf-8",
                    403,
                    "Forbidden",
                    new HashMap<String, String>(),
                    new ByteArrayInputStream(new byte[0]));
        }
    }
}
