package assay.shell;

/** The parts of the shell that need no Android. Prints the number of checks; ends with an error at the first that fails. */
final class PartsTest {
    private static int checks;

    public static void main(String[] arguments) {
        origins();
        links();
        messages();
        limits();
        System.out.println(checks);
    }

    private static void origins() {
        OwnOrigin own = new OwnOrigin("https://verify.example.org");
        for (String address : new String[] {
            "https://verify.example.org",
            "https://verify.example.org/",
            "https://VERIFY.example.org:443/verify/vs_1?a=b#handoff=t",
            "HTTPS://verify.example.org/v1",
        }) check(true, own.owns(address), address);
        for (String address : new String[] {
            "",
            "/verify/vs_1",
            "//verify.example.org/",
            "http://verify.example.org/",
            "https://verify.example.org:8443/",
            "https://example.org/",
            "https://verify.example.org.evil.test/",
            "https://evil.test/https://verify.example.org/",
            "https://verify.example.org@evil.test/",
            "https://evil.test#@verify.example.org/",
            "https://evil.test\\@verify.example.org/",
            "https://person@verify.example.org/",
            "https://verify.example.org./",
            "https:verify.example.org",
            "javascript:alert(1)",
            "about:blank",
            "null",
        }) check(false, own.owns(address), address);
        OwnOrigin local = new OwnOrigin("http://localhost:3000");
        check(true, local.owns("http://localhost:3000/verify/vs_1"), "local");
        check(false, local.owns("http://localhost/verify/vs_1"), "local, other port");
    }

    private static void links() {
        OwnOrigin own = new OwnOrigin("https://verify.example.org");
        String link = "https://verify.example.org/verify/vs_1#handoff=abc";
        check(link, own.verificationLink("  " + link + "\n"), "pasted with spaces");
        for (String text : new String[] {
            null,
            "",
            "vs_1",
            "https://verify.example.org",
            "https://verify.example.org/verify/",
            "https://verify.example.org/dashboard",
            "https://evil.test/verify/vs_1",
        }) check(null, own.verificationLink(text), text);
        check("/verify/vs_1", own.pathOf(link), "the path names the session and has no token");
        check(null, own.pathOf("https://evil.test/verify/vs_1"), "the path of a foreign link");
        check(false, own.owns(null), "nothing at all");
    }

    private static void messages() {
        check(ShellMessage.Kind.CANCEL, ShellMessage.parse("cancel").kind, "cancel");
        check(ShellMessage.Kind.SETTINGS, ShellMessage.parse("settings").kind, "settings");
        ShellMessage message = ShellMessage.parse("transceive 17 00a4040c07ff");
        check(ShellMessage.Kind.TRANSCEIVE, message.kind, "a command");
        check(17, message.number, "number");
        check("answer 17 00a4040c07ff", ShellMessage.answer(17, message.command), "hexadecimal, both ways");
        check("answer 3 ", ShellMessage.answer(3, new byte[0]), "empty");
        check("lost 9", ShellMessage.lost(9), "lost");
        check(ShellMessage.Kind.RESET, ShellMessage.parse("reset 4").kind, "reset");
        check(4, ShellMessage.parse("reset 4").number, "number of a reset");
        check("{\"a b\":\"c\"}", ShellMessage.parse("keep {\"a b\":\"c\"}").text, "what is to be kept, as it is");
        check("", ShellMessage.parse("keep ").text, "nothing to keep");
        check("read", ShellMessage.parse("feel read").text, "felt");
        check(ShellMessage.Kind.MAKE_KEY, ShellMessage.parse("makekey 5 a1").kind, "a key");
        check(ShellMessage.Kind.SIGN, ShellMessage.parse("sign 6 a1").kind, "a signature");
        check("certificates 5 0a.0b0c", ShellMessage.certificates(5, new byte[][] {{10}, {11, 12}}), "certificates");
        check("refused 5", ShellMessage.refused(5), "refused");
        check(null, ShellMessage.parse("makekey 5"), "a key for nothing");
        check(null, ShellMessage.parse("sign 0 a1"), "a signature that nobody waits for");
        for (String text : new String[] {
            null,
            "",
            "cancel ",
            "keep",
            "feel",
            "feel ",
            "feel other",
            "feel read read",
            "settings 1",
            "reset",
            "reset 0",
            "reset 1 00",
            "transceive",
            "transceive 1",
            "transceive 1 ",
            "transceive 1 0",
            "transceive 1 0g",
            "transceive 1 00 00",
            "transceive 0 00",
            "transceive -1 00",
            "transceive 9999999999 00",
            "Transceive 1 00",
        }) check(null, ShellMessage.parse(text), text);
    }

    private static void limits() {
        check("limits 261 258 0", ShellMessage.limits(261, false), "a small controller");
        check("limits 253 258 0", ShellMessage.limits(253, false), "a smaller one");
        check("limits 261 258 0", ShellMessage.limits(65279, false), "room, but no extended length");
        check("limits 261 258 0", ShellMessage.limits(261, true), "extended length without room for it");
        check("limits 65279 65279 1", ShellMessage.limits(65279, true), "extended length");
    }

    private static void check(Object expected, Object found, String what) {
        checks++;
        boolean same = expected == null ? found == null : expected.equals(found);
        if (!same) throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }
}
