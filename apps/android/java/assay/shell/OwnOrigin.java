package assay.shell;

import java.net.URI;
import java.net.URISyntaxException;

/** The one origin that the shell was built for. Free of Android, as a plain JVM tests it. */
final class OwnOrigin {
    private final URI origin;

    OwnOrigin(String origin) {
        this.origin = URI.create(origin);
    }

    /** Whether an address is of this origin. What cannot be read strictly is not. */
    boolean owns(String address) {
        URI other = address == null ? null : parse(address);
        return other != null
                && other.getHost() != null
                && other.getRawUserInfo() == null
                && origin.getScheme().equalsIgnoreCase(other.getScheme())
                && origin.getHost().equalsIgnoreCase(other.getHost())
                && port(origin) == port(other);
    }

    /** The link to a verification in what was typed, pasted or handed over by another app; null when there is none. */
    String verificationLink(String text) {
        if (text == null) return null;
        String link = text.trim();
        if (!owns(link)) return null;
        String path = parse(link).getRawPath();
        return path.startsWith("/verify/") && path.length() > "/verify/".length() ? link : null;
    }

    /** The path of a link to a verification, which names the session and holds no token; null for anything else. */
    String pathOf(String text) {
        String link = verificationLink(text);
        return link == null ? null : parse(link).getRawPath();
    }

    private static URI parse(String address) {
        try {
            return new URI(address);
        } catch (URISyntaxException error) {
            return null;
        }
    }

    private static int port(URI uri) {
        if (uri.getPort() != -1) return uri.getPort();
        return "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
    }
}
