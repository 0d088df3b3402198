package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

public final class InstrumentationRegistry {
    private static Instrumentation registered;

    private InstrumentationRegistry() {}

    public static Instrumentation getInstrumentation() {
        return registered;
    }

    public static void registerInstance(Instrumentation instrumentation, Bundle arguments) {
        registered = instrumentation;
    }
}
