package org.chromium.support_lib_boundary;

import java.lang.reflect.InvocationHandler;

/** As in the web view's own sources, as far as the shell uses it. */
public interface WebViewProviderBoundaryInterface {
    InvocationHandler addDocumentStartJavaScript(String script, String[] allowedOriginRules);
}
