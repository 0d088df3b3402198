package assay.shell;

import java.io.OutputStream;
import java.io.PrintStream;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs the given classes. Prints a line per test and suppresses the output of Android's code. */
public final class RunTests {
    private RunTests() {}

    public static void main(String[] classes) throws ClassNotFoundException {
        final PrintStream out = System.out;
        PrintStream nowhere = new PrintStream(new OutputStream() {
            @Override
            public void write(int value) {}
        });
        System.setOut(nowhere);
        System.setErr(nowhere);
        JUnitCore core = new JUnitCore();
        core.addListener(new RunListener() {
            private boolean failed;

            @Override
            public void testStarted(Description test) {
                failed = false;
            }

            @Override
            public void testFailure(Failure failure) {
                failed = true;
                out.println("FAIL  " + failure.getDescription().getMethodName() + "\n" + failure.getTrace());
            }

            @Override
            public void testFinished(Description test) {
                if (!failed) out.println("ok    " + test.getMethodName());
                out.flush();
            }
        });
        Class<?>[] found = new Class<?>[classes.length];
        for (int index = 0; index < classes.length; index++) found[index] = Class.forName(classes[index]);
        org.junit.runner.Result result = core.run(found);
        out.println(result.getRunCount() + " tests, " + result.getFailureCount() + " failed, "
                + result.getRunTime() / 1000 + " s");
        out.flush();
        System.exit(result.wasSuccessful() && result.getRunCount() > 0 ? 0 : 1);
    }
}
