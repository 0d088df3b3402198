import Foundation

/// The one origin that the shell was built for. Needs nothing but Foundation, so that it is compiled and tested without a Mac.
struct OwnOrigin {
    /// Lower case, in its ASCII form.
    let host: String

    /// Whether an address is of this origin. What cannot be read strictly is not.
    func owns(_ address: URL?) -> Bool {
        guard let address, let parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return false }
        return parts.scheme?.lowercased() == "https"
            && parts.user == nil
            && parts.password == nil
            && parts.host?.lowercased() == host
            && (parts.port == nil || parts.port == 443)
    }

    /// The same for the parts of an origin as the web view names them, where 0 is the scheme's own port.
    func owns(scheme: String, host: String, port: Int) -> Bool {
        scheme == "https" && host.lowercased() == self.host && (port == 0 || port == 443)
    }

    /// The link to a verification in what was typed, pasted or handed over by the system; nil when there is none.
    func verificationLink(_ text: String?) -> URL? {
        guard let link = text?.trimmingCharacters(in: .whitespacesAndNewlines), !link.isEmpty else { return nil }
        // Newer systems repair what is no address, each in its own way. Nothing is repaired here.
        guard link.unicodeScalars.allSatisfy(Self.allowed.contains) else { return nil }
        guard let url = URL(string: link), owns(url), Self.sessionPath(of: url) != nil else { return nil }
        return url
    }

    /// The address of a session that was kept; nil when the path is not one of a verification.
    func address(ofPath path: String) -> URL? {
        verificationLink("https://\(host)\(path)")
    }

    /// What names the session: the path, without a token that may follow it.
    static func sessionPath(of url: URL) -> String? {
        guard let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath else { return nil }
        let prefix = "/verify/"
        return path.hasPrefix(prefix) && path.count > prefix.count ? path : nil
    }

    /// Every character that may occur in an address (RFC 3986).
    private static let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%"
    )
}
