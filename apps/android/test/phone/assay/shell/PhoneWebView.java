package assay.shell;

import android.net.Uri;
import android.webkit.WebMessage;
import android.webkit.WebView;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowWebView;

/** A web view without a browser engine: it notes what the shell has it do. */
@Implements(WebView.class)
public class PhoneWebView extends ShadowWebView {
    /** The origin for which the script before the page's was added; null if none was. */
    String scriptOrigin;
    String script;
    WebMessage offered;
    Uri offeredTo;

    /**
     * Where the shell looks for the features of the installed web view;
     * see org.chromium.support_lib_glue in this folder.
     */
    @Implementation
    protected static ClassLoader getWebViewClassLoader() {
        return PhoneWebView.class.getClassLoader();
    }

    @Implementation
    protected void postWebMessage(WebMessage message, Uri targetOrigin) {
        offered = message;
        offeredTo = targetOrigin;
    }
}
