package org.chromium.support_lib_boundary;

import java.lang.reflect.InvocationHandler;

/** From the web view's sources, the part that the shell uses. */
public interface WebViewProviderBoundaryInterface {
    InvocationHandler addDocumentStartJavaScript(String script, String[] allowedOriginRules);
}
