package assay.shell;

import android.webkit.WebView;
import java.lang.reflect.InvocationHandler;

/**
 * Makes the browser engine run a script before all scripts of the pages of one origin. Android's API cannot,
 * but the installed web view offers it to AndroidX through the classes named here. They are called directly,
 * because the library has no other use here.
 */
final class PageScript {
    private static final String GLUE = "org.chromium.support_lib_glue.SupportLibReflectionUtil";
    private static final String BOUNDARY = "org.chromium.support_lib_boundary.";

    private PageScript() {}

    /** False when the web view of this phone is too old to do it. */
    static boolean addTo(WebView web, String script, String origin) {
        try {
            ClassLoader loader = WebView.getWebViewClassLoader();
            Object factory = Class.forName(GLUE, false, loader)
                    .getDeclaredMethod("createWebViewProviderFactory")
                    .invoke(null);
            Object provider = call(
                    factory, "WebViewProviderFactoryBoundaryInterface", "createWebView", new Class<?>[] {WebView.class}, web);
            call(
                    provider,
                    "WebViewProviderBoundaryInterface",
                    "addDocumentStartJavaScript",
                    new Class<?>[] {String.class, String[].class},
                    script,
                    new String[] {origin});
            return true;
        } catch (Throwable missing) {
            return false;
        }
    }

    private static Object call(Object handler, String boundary, String method, Class<?>[] types, Object... values)
            throws Throwable {
        Class<?> declared = Class.forName(BOUNDARY + boundary, false, WebView.getWebViewClassLoader());
        return ((InvocationHandler) handler).invoke(handler, declared.getDeclaredMethod(method, types), values);
    }
}
