package org.chromium.support_lib_glue;

import assay.shell.PageScripts;
import java.lang.reflect.InvocationHandler;

/** Stands for the class of the same name in the web view that is installed on a phone. */
public final class SupportLibReflectionUtil {
    private SupportLibReflectionUtil() {}

    public static InvocationHandler createWebViewProviderFactory() {
        return PageScripts.factory();
    }
}
