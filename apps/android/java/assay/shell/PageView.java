package assay.shell;

import android.annotation.SuppressLint;
import android.content.Context;
import android.graphics.Bitmap;
import android.net.Uri;
import android.view.View;
import android.view.inputmethod.EditorInfo;
import android.view.inputmethod.InputConnection;
import android.webkit.ConsoleMessage;
import android.webkit.PermissionRequest;
import android.webkit.RenderProcessGoneDetail;
import android.webkit.WebChromeClient;
import android.webkit.WebMessage;
import android.webkit.WebMessagePort;
import android.webkit.WebResourceError;
import android.webkit.WebResourceRequest;
import android.webkit.WebResourceResponse;
import android.webkit.WebSettings;
import android.webkit.WebView;
import android.webkit.WebViewClient;
import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.HashMap;

/**
 * A web view for pages of one origin. It loads nothing from elsewhere, and gives its message port and the
 * camera only to the main frame of that origin.
 */
@SuppressLint("ViewConstructor")
final class PageView extends WebView {
    /** The page's requests and events. */
    interface Host {
        void onShellMessage(ShellMessage message);

        /** The page was left or reloaded, so its requests to the reader are obsolete. */
        void onPageLeft();

        /** The page could not be loaded. */
        void onNotLoaded();

        /** Android ended the browser engine behind this view, which is now blank. */
        void onEngineGone();

        /** Asked by the own origin, for the camera alone. */
        void onCameraAsked(PermissionRequest request);

        void onCameraNoLongerAsked(PermissionRequest request);

        void openElsewhere(Uri address);
    }

    private final OwnOrigin own;
    private final Host host;
    private WebMessagePort port;
    private boolean portOffered;

    @SuppressLint("SetJavaScriptEnabled")
    PageView(Context context, OwnOrigin own, Host host) {
        super(context);
        this.own = own;
        this.host = host;
        setImportantForAutofill(View.IMPORTANT_FOR_AUTOFILL_NO_EXCLUDE_DESCENDANTS);
        WebSettings settings = getSettings();
        settings.setJavaScriptEnabled(true);
        settings.setDomStorageEnabled(true);
        settings.setAllowFileAccess(false);
        settings.setAllowContentAccess(false);
        settings.setAllowFileAccessFromFileURLs(false);
        settings.setAllowUniversalAccessFromFileURLs(false);
        settings.setGeolocationEnabled(false);
        settings.setMediaPlaybackRequiresUserGesture(false);
        settings.setMixedContentMode(WebSettings.MIXED_CONTENT_NEVER_ALLOW);
        setWebViewClient(new Client());
        setWebChromeClient(new Chrome());
    }

    @Override
    public InputConnection onCreateInputConnection(EditorInfo info) {
        InputConnection connection = super.onCreateInputConnection(info);
        // The keyboard is not to remember the number of a document.
        info.imeOptions |= EditorInfo.IME_FLAG_NO_PERSONALIZED_LEARNING;
        return connection;
    }

    void tell(String message) {
        if (port != null) port.postMessage(new WebMessage(message));
    }

    void close() {
        closePort();
        clearHistory();
        clearCache(true);
        destroy();
    }

    private void closePort() {
        if (port != null) port.close();
        port = null;
        portOffered = false;
    }

    /** The browser engine gives a port to the main frame only, and only while that shows the named origin. */
    private void offerPort() {
        portOffered = true;
        WebMessagePort[] ends = createWebMessageChannel();
        final WebMessagePort offered = ends[0];
        port = offered;
        offered.setWebMessageCallback(new WebMessagePort.WebMessageCallback() {
            @Override
            public void onMessage(WebMessagePort from, WebMessage message) {
                ShellMessage parsed = ShellMessage.parse(message.getData());
                if (parsed != null && port == offered) host.onShellMessage(parsed);
            }
        });
        postWebMessage(
                new WebMessage("chip-transport", new WebMessagePort[] {ends[1]}), Uri.parse(own.toString()));
    }

    private final class Chrome extends WebChromeClient {
        @Override
        public void onPermissionRequest(PermissionRequest request) {
            String[] cameraAlone = {PermissionRequest.RESOURCE_VIDEO_CAPTURE};
            if (!own.owns(request.getOrigin().toString()) || !Arrays.equals(request.getResources(), cameraAlone))
                request.deny();
            else host.onCameraAsked(request);
        }

        @Override
        public void onPermissionRequestCanceled(PermissionRequest request) {
            host.onCameraNoLongerAsked(request);
        }

        /** Handled here, so that nothing the page says ends up in the system's log. */
        @Override
        public boolean onConsoleMessage(ConsoleMessage message) {
            return true;
        }
    }

    private final class Client extends WebViewClient {
        @Override
        public boolean shouldOverrideUrlLoading(WebView view, WebResourceRequest request) {
            if (own.owns(request.getUrl().toString())) return false;
            String scheme = request.getUrl().getScheme();
            // A link of the page may lead to the partner.
            // A redirect by the service to another origin is refused.
            if (request.isForMainFrame() && request.isRedirect()) host.onNotLoaded();
            else if (request.isForMainFrame() && ("https".equals(scheme) || "http".equals(scheme)))
                host.openElsewhere(request.getUrl());
            return true;
        }

        @Override
        public void onPageStarted(WebView view, String url, Bitmap icon) {
            closePort();
            host.onPageLeft();
        }

        @Override
        public void onPageFinished(WebView view, String url) {
            if (!portOffered && own.owns(url)) offerPort();
        }

        @Override
        public void onReceivedError(WebView view, WebResourceRequest request, WebResourceError error) {
            if (request.isForMainFrame()) host.onNotLoaded();
        }

        @Override
        public boolean onRenderProcessGone(WebView view, RenderProcessGoneDetail detail) {
            // Without this return value Android would end the whole app.
            host.onEngineGone();
            return true;
        }

        /** Whatever is asked of another origin is refused here. Runs on a thread of the browser engine. */
        @Override
        public WebResourceResponse shouldInterceptRequest(WebView view, WebResourceRequest request) {
            String scheme = request.getUrl().getScheme();
            if (!"https".equals(scheme) && !"http".equals(scheme)) return null;
            if (own.owns(request.getUrl().toString())) return null;
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
