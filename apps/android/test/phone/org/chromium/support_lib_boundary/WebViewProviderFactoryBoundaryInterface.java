package org.chromium.support_lib_boundary;

import android.webkit.WebView;
import java.lang.reflect.InvocationHandler;

/** From the web view's sources, the part that the shell uses. */
public interface WebViewProviderFactoryBoundaryInterface {
    InvocationHandler createWebView(WebView webview);
}
