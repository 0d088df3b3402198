import Foundation

/// What an origin must answer before its page is opened: that it is a verification service, and who asks.
/// Needs only Foundation; the rules are those of ReaderDocument.java.
enum ReaderDocument {
    static let path = "/.well-known/assay-reader.json"
    static let maxBytes = 4096
    static let maxDetailsBytes = 256 * 1024
    private static let maxNameCharacters = 100

    static func detailsPath(_ session: String) -> String { "/v1/verify/session/\(session)/details" }

    /// A redirect is no answer: it would come from another address than the one shown.
    static func isAnswer(status: Int, contentType: String?) -> Bool {
        let type = contentType?.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return status == 200 && type == "application/json"
    }

    /// Whether the service supports this app's protocol and has its pages at the link's path.
    static func accepts(_ body: Data) -> Bool {
        guard body.count <= maxBytes, let document = try? JSONDecoder().decode(Document.self, from: body) else { return false }
        return document.protocol == 1 && document.session_page == "/verify/{session}"
    }

    /// By the decoder, for which `true` and "1" are no numbers.
    private struct Document: Decodable {
        let `protocol`: Int
        let session_page: String
    }

    /// The partner's name, safe to show beside the origin; nil if there is none. Direction marks and
    /// invisible characters could make it say something about the origin.
    static func partner(_ body: Data) -> String? {
        guard body.count <= maxDetailsBytes,
            let data = object(body)?["data"] as? [String: Any],
            let name = (data["organization"] as? [String: Any])?["name"] as? String
        else { return nil }
        var plain = ""
        for scalar in name.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .privateUse, .unassigned, .surrogate, .lineSeparator, .paragraphSeparator: continue
            case .spaceSeparator: if !plain.hasSuffix(" ") { plain += " " }
            default: plain.unicodeScalars.append(scalar)
            }
        }
        plain = plain.trimmingCharacters(in: .whitespaces)
        if plain.isEmpty { return nil }
        return plain.count <= maxNameCharacters ? plain : plain.prefix(maxNameCharacters - 1) + "…"
    }

    private static func object(_ body: Data) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    }
}
