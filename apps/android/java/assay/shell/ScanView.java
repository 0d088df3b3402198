package assay.shell;

import android.annotation.SuppressLint;
import android.content.Context;
import android.net.Uri;
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
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;

/**
 * The camera's picture, and what the codes in it say. The page is part of the app and loads nothing else:
 * its address leads nowhere, and every request is answered here. Pictures stay in the page, and go with it.
 */
@SuppressLint("ViewConstructor")
final class ScanView extends WebView {
    interface Host {
        /** Whatever stood in a code. */
        void onScanned(String text);

        void onNoCamera();
    }

    /** No name ends in this (RFC 2606); https, as browsers give a camera to no other scheme. */
    static final String ORIGIN = "https://scanner.invalid";
    private static final String PAGE = "scan.html";
    private static final String POLICY = "default-src 'none'; script-src 'self'";

    private final OwnOrigin own = new OwnOrigin(ORIGIN);
    private final Host host;
    private WebMessagePort port;

    /** The app must have been allowed to use the camera before. */
    @SuppressLint("SetJavaScriptEnabled")
    ScanView(Context context, Host host) {
        super(context);
        this.host = host;
        WebSettings settings = getSettings();
        settings.setJavaScriptEnabled(true);
        settings.setAllowFileAccess(false);
        settings.setAllowContentAccess(false);
        settings.setGeolocationEnabled(false);
        settings.setMediaPlaybackRequiresUserGesture(false);
        setWebViewClient(new Client());
        setWebChromeClient(new Chrome());
        loadUrl(ORIGIN + "/" + PAGE);
    }

    /** Also lets the camera go. */
    void close() {
        if (port != null) port.close();
        port = null;
        destroy();
    }

    private void offerPort() {
        WebMessagePort[] ends = createWebMessageChannel();
        port = ends[0];
        port.setWebMessageCallback(new WebMessagePort.WebMessageCallback() {
            @Override
            public void onMessage(WebMessagePort from, WebMessage message) {
                String said = message.getData();
                if (port == null || said == null) return;
                if (said.startsWith("code ")) host.onScanned(said.substring("code ".length()));
                else if (said.equals("no-camera")) host.onNoCamera();
            }
        });
        postWebMessage(new WebMessage("scanner", new WebMessagePort[] {ends[1]}), Uri.parse(ORIGIN));
    }

    private final class Chrome extends WebChromeClient {
        @Override
        public void onPermissionRequest(PermissionRequest request) {
            String[] cameraAlone = {PermissionRequest.RESOURCE_VIDEO_CAPTURE};
            if (own.owns(request.getOrigin().toString()) && Arrays.equals(request.getResources(), cameraAlone))
                request.grant(cameraAlone);
            else request.deny();
        }

        @Override
        public boolean onConsoleMessage(ConsoleMessage message) {
            return true;
        }
    }

    private final class Client extends WebViewClient {
        @Override
        public boolean shouldOverrideUrlLoading(WebView view, WebResourceRequest request) {
            return true;
        }

        @Override
        public void onPageFinished(WebView view, String url) {
            if (port == null && own.owns(url)) offerPort();
        }

        @Override
        public void onReceivedError(WebView view, WebResourceRequest request, WebResourceError error) {
            if (request.isForMainFrame()) host.onNoCamera();
        }

        @Override
        public boolean onRenderProcessGone(WebView view, RenderProcessGoneDetail detail) {
            // Without this answer Android would end the whole app with it.
            host.onNoCamera();
            return true;
        }

        /** Runs on a thread of the browser engine. */
        @Override
        public WebResourceResponse shouldInterceptRequest(WebView view, WebResourceRequest request) {
            String address = request.getUrl().toString();
            for (String name : new String[] {PAGE, "scan.js", "qr-code.js"})
                if (address.equals(ORIGIN + "/" + name)) return asset(name);
            return answer(404, "Not Found", "text/plain", new ByteArrayInputStream(new byte[0]));
        }
    }

    private WebResourceResponse asset(String name) {
        try {
            String type = name.equals(PAGE) ? "text/html" : "text/javascript";
            return answer(200, "OK", type, getContext().getAssets().open(name));
        } catch (IOException error) {
            throw new IllegalStateException("The app holds no " + name, error);
        }
    }

    private static WebResourceResponse answer(int status, String reason, String type, InputStream body) {
        return new WebResourceResponse(
                type, "utf-8", status, reason, Collections.singletonMap("Content-Security-Policy", POLICY), body);
    }
}
