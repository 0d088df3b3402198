package assay.shell;

import android.webkit.WebView;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import org.robolectric.shadow.api.Shadow;

/** The end of the web view at which the shell leaves its script. */
public final class PageScripts {
    private PageScripts() {}

    public static InvocationHandler factory() {
        return new InvocationHandler() {
            @Override
            public Object invoke(Object proxy, Method method, Object[] values) {
                final WebView web = (WebView) values[0];
                return new InvocationHandler() {
                    @Override
                    public Object invoke(Object proxy, Method method, Object[] values) {
                        PhoneWebView phone = Shadow.extract(web);
                        phone.script = (String) values[0];
                        phone.scriptOrigin = String.join(" ", (String[]) values[1]);
                        return null;
                    }
                };
            }
        };
    }
}
