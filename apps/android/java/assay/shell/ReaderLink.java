package assay.shell;

import java.net.IDN;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A link to a verification. It is shown and opened in one canonical form, so that no other program reads
 * another host from it. Free of Android, so that a plain JVM can test it.
 */
final class ReaderLink {
    private static final int MAX_CHARACTERS = 2048;
    private static final int MAX_HOST_CHARACTERS = 253;
    private static final Pattern PLAIN = Pattern.compile("[\\x21-\\x7e]+");
    private static final Pattern AUTHORITY = Pattern.compile("(?i)(https?)://([^/?#\\\\@:\\[\\]]+)(:[0-9]{1,5})?([/?#].*)?");
    private static final Pattern LETTERS = Pattern.compile("[\\p{L}\\p{M}\\p{N}.-]+");
    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    /** The last label of a name. One that begins with a digit would make an IP address. */
    private static final Pattern TOP_LABEL = Pattern.compile("[a-z](?:[a-z0-9-]{0,61}[a-z0-9])");
    /** The developer's machine, as an emulator or `adb reverse` reaches it. */
    private static final List<String> LOCAL = Arrays.asList("localhost", "127.0.0.1", "10.0.2.2");
    private static final Pattern PAGE = Pattern.compile("/verify/(vs_[A-Za-z0-9]{1,128})");

    final OwnOrigin origin;
    final String session;
    /** The whole link, with the token that may follow its #. */
    final String address;

    private ReaderLink(String origin, String session, String address) {
        this.origin = new OwnOrigin(origin);
        this.session = session;
        this.address = address;
    }

    /** Identifies the session, without a token. */
    String place() {
        return origin + "/verify/" + session;
    }

    /**
     * The link in a typed or pasted text or from another app; null if it may not be opened. `allowed`: the
     * origins that the app was built for. Empty means every https origin with a public name.
     */
    static ReaderLink parse(String text, String[] allowed, boolean debug) {
        String link = text == null ? "" : text.trim();
        Matcher parts = AUTHORITY.matcher(link);
        if (link.length() > MAX_CHARACTERS || !parts.matches()) return null;
        String scheme = parts.group(1).toLowerCase(Locale.ROOT);
        String host = asciiHost(parts.group(2));
        String rest = parts.group(4);
        if (host == null || rest == null || !PLAIN.matcher(rest).matches()) return null;
        URI uri;
        try {
            uri = new URI(scheme + "://" + host + (parts.group(3) == null ? "" : parts.group(3)) + rest);
        } catch (URISyntaxException error) {
            return null;
        }
        // Both have to find the same host.
        if (!host.equals(uri.getHost()) || uri.getPort() == 0 || uri.getPort() > 65535) return null;
        boolean usualPort = uri.getPort() == -1 || uri.getPort() == (scheme.equals("https") ? 443 : 80);
        String origin = scheme + "://" + host + (usualPort ? "" : ":" + uri.getPort());
        boolean opens = allowed.length == 0 ? isOpen(scheme, host, debug) : Arrays.asList(allowed).contains(origin);
        Matcher page = PAGE.matcher(uri.getRawPath());
        if (!opens || !page.matches()) return null;
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        String fragment = uri.getRawFragment() == null ? "" : "#" + uri.getRawFragment();
        return new ReaderLink(origin, page.group(1), origin + uri.getRawPath() + query + fragment);
    }

    private static boolean isOpen(String scheme, String host, boolean debug) {
        if (debug && LOCAL.contains(host)) return true;
        int lastDot = host.lastIndexOf('.');
        return scheme.equals("https") && lastDot > 0 && TOP_LABEL.matcher(host.substring(lastDot + 1)).matches();
    }

    /**
     * The name in punycode, as in certificates and DNS, in lower case; null if it is no name. A non-ASCII
     * name that does not survive the round trip, such as one with ß or another kind of dot, is refused:
     * programs differ on it.
     */
    private static String asciiHost(String given) {
        String host = given.toLowerCase(Locale.ROOT);
        if (!PLAIN.matcher(given).matches()) {
            if (!LETTERS.matcher(given).matches()) return null;
            try {
                host = IDN.toASCII(given, IDN.USE_STD3_ASCII_RULES);
            } catch (IllegalArgumentException error) {
                return null;
            }
            if (!IDN.toUnicode(host).equals(given)) return null;
        }
        if (host.length() > MAX_HOST_CHARACTERS) return null;
        for (String label : host.split("\\.", -1)) if (!LABEL.matcher(label).matches()) return null;
        return host;
    }
}
