package assay.shell;

import java.net.URI;
import java.net.URISyntaxException;

/** The one origin whose pages a web view may show. Free of Android, as a plain JVM tests it. */
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

    /** For display: the host, and the port if it is not the default. */
    String shown() {
        return origin.getRawAuthority();
    }

    @Override
    public String toString() {
        return origin.toString();
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
