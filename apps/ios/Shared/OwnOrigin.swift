import Foundation

/// The only origin whose pages a web view may show. Needs only Foundation, so that it is testable without a
/// Mac.
struct OwnOrigin: Equatable {
    static let usualPort = 443

    /// Lower case, in its ASCII form.
    let host: String
    let port: Int

    init(host: String, port: Int = usualPort) {
        self.host = host
        self.port = port
    }

    var text: String { "https://\(shown)" }

    /// As people read it: the host, and the port where it is not the usual one.
    var shown: String { port == Self.usualPort ? host : "\(host):\(port)" }

    /// Whether an address is of this origin. What cannot be read strictly is not.
    func owns(_ address: URL?) -> Bool {
        guard let address, let parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return false }
        return parts.scheme?.lowercased() == "https"
            && parts.user == nil
            && parts.password == nil
            // `host` would be in its own letters, where the address has its ASCII form.
            && parts.encodedHost?.lowercased() == host
            && (parts.port ?? Self.usualPort) == port
    }

    /// The same for the parts of an origin as the web view names them, where 0 is the scheme's own port.
    func owns(scheme: String, host: String, port: Int) -> Bool {
        scheme == "https" && host.lowercased() == self.host && (port == 0 ? Self.usualPort : port) == self.port
    }
}
