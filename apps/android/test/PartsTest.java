package assay.shell;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tests the parts of the shell that need no Android.
 * Prints the number of checks; exits with an error at the first failure.
 */
final class PartsTest {
    private static int checks;

    public static void main(String[] arguments) throws IOException {
        origins();
        links(arguments[0]);
        allowed();
        documents();
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
            null,
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
        check(true, local.owns("http://localhost:3000/verify/vs_1"), "a debug build");
        check(false, local.owns("http://localhost/verify/vs_1"), "a debug build, another port");
        check("verify.example.org", own.shown(), "people read the host");
        check("localhost:3000", local.shown(), "and an unusual port");
    }

    /** The table that both shells are held to. */
    private static void links(String table) throws IOException {
        int links = 0;
        for (String line : Files.readAllLines(Paths.get(table), StandardCharsets.UTF_8)) {
            if (line.startsWith("#") || line.equals("unicode")) continue;
            String[] parts = unescaped(line).split("\t(?=[^\t]*$)");
            ReaderLink link = ReaderLink.parse(parts[0], EVERY, false);
            check(parts[1], link == null ? "refused" : link.place(), line);
            if (link != null) check(true, link.origin.owns(link.address), "opened at what is shown: " + line);
            links++;
        }
        check(true, links > 90, "the table was read");
        String host = longHost(253);
        check("https://" + host, ReaderLink.parse("https://" + host + "/verify/vs_1", EVERY, false).origin.toString(), "253");
        check(null, ReaderLink.parse("https://a" + host + "/verify/vs_1", EVERY, false), "a host of 254 characters");
        check(null, ReaderLink.parse("https://" + repeat('a', 64) + ".com/verify/vs_1", EVERY, false), "a label of 64");
        check(null, ReaderLink.parse("https://a.com/verify/vs_" + repeat('1', 129), EVERY, false), "a long session");
        check(null, ReaderLink.parse("https://a.com/verify/vs_1#" + repeat('x', 2048), EVERY, false), "a long link");
        check(null, ReaderLink.parse(repeat('\u00fc', 2000), EVERY, false), "a long text");
        check(null, ReaderLink.parse(null, EVERY, false), "nothing");
        ReaderLink link = ReaderLink.parse(" https://A.example/verify/vs_1?a=b#handoff=t\n", EVERY, false);
        check("https://a.example/verify/vs_1?a=b#handoff=t", link.address, "the token stays with the link");
        check("vs_1", link.session, "the session");
    }

    private static void allowed() {
        String[] two = {"https://verify.example.org", "https://other.example:8443"};
        String link = "https://verify.example.org/verify/vs_1#handoff=abc";
        check(link, ReaderLink.parse("  " + link + "\n", two, false).address, "pasted with spaces");
        check("other.example:8443", ReaderLink.parse("https://other.example:8443/verify/vs_1", two, false).origin.shown(), "port");
        for (String text : new String[] {
            "https://example.org/verify/vs_1",
            "https://a.verify.example.org/verify/vs_1",
            "https://verify.example.org.evil.test/verify/vs_1",
            "https://verify.example.org:8443/verify/vs_1",
            "https://other.example/verify/vs_1",
            "http://verify.example.org/verify/vs_1",
            "https://verify.example.org/dashboard",
        }) check(null, ReaderLink.parse(text, two, false), text);
        String[] local = {"http://localhost:3000"};
        check(true, ReaderLink.parse("http://localhost:3000/verify/vs_1", local, true) != null, "a debug build of one origin");
        check(true, ReaderLink.parse("http://10.0.2.2/verify/vs_1", EVERY, true) != null, "a debug build for all");
        check(null, ReaderLink.parse("http://example.com/verify/vs_1", EVERY, true), "cleartext elsewhere");
    }

    private static void documents() {
        check(true, ReaderDocument.isAnswer(200, "application/json"), "json");
        check(true, ReaderDocument.isAnswer(200, "Application/JSON; charset=utf-8"), "json with a charset");
        for (int status : new int[] {204, 206, 301, 302, 303, 307, 308, 401, 404, 500, -1})
            check(false, ReaderDocument.isAnswer(status, "application/json"), "status " + status);
        for (String type : new String[] {null, "", "text/html", "text/plain", "application/json5", "x;application/json"})
            check(false, ReaderDocument.isAnswer(200, type), type);
        check(true, ReaderDocument.accepts(1, "/verify/{session}"), "ours");
        for (Object protocol : new Object[] {null, 0, 2, "1", 1L, 1.0, true, new Object()})
            check(false, ReaderDocument.accepts(protocol, "/verify/{session}"), "protocol " + protocol);
        for (Object page : new Object[] {null, "", "/", "/{session}", "https://evil.test/verify/{session}", 1, new Object()})
            check(false, ReaderDocument.accepts(1, page), "page " + page);
        check("Acme Shop", ReaderDocument.shownName("Acme Shop"), "a name");
        check("Müller & Söhne", ReaderDocument.shownName(" Müller\u00a0 & Söhne "), "spaces");
        check("moc.elpmaxe", ReaderDocument.shownName("\u202emoc.elpmaxe\u202c"), "direction of the text");
        check("ab", ReaderDocument.shownName("a\u0000\n\u200b\u2028\ufeff\ue000\ud800b"), "what shows nothing");
        check(100, ReaderDocument.shownName(repeat('x', 5000)).length(), "a long name");
        check("\ud83d\ude00", ReaderDocument.shownName("\ud83d\ude00"), "a character of two halves");
        for (Object name : new Object[] {null, "", "  ", "\u202e", 1, true, new Object()})
            check(null, ReaderDocument.shownName(name), "name " + name);
        check("/v1/verify/session/vs_1/details", ReaderDocument.detailsPath("vs_1"), "details");
    }

    private static final String[] EVERY = {};

    private static String unescaped(String line) {
        Matcher escape = Pattern.compile("\\\\u([0-9a-f]{4})").matcher(line);
        StringBuffer text = new StringBuffer();
        while (escape.find()) {
            String character = String.valueOf((char) Integer.parseInt(escape.group(1), 16));
            escape.appendReplacement(text, Matcher.quoteReplacement(character));
        }
        return escape.appendTail(text).toString();
    }

    private static String longHost(int characters) {
        String labels = repeat('a', 62) + "." + repeat('b', 62) + "." + repeat('c', 62) + ".";
        return labels + repeat('d', characters - labels.length() - 4) + ".com";
    }

    private static String repeat(char character, int count) {
        return new String(new char[count]).replace('\0', character);
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
