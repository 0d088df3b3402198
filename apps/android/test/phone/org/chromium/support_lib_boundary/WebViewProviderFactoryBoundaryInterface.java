package org.chromium.support_lib_boundary;

import android.webkit.WebView;
import java.lang.reflect.InvocationHandler;

/** As in the web view's own sources, as far as the shell uses it. */
public interface WebViewProviderFactoryBoundaryInterface {
    InvocationHandler createWebView(WebView webview);
}
