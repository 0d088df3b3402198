import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks an origin, before a page of it is opened, whether it is a verification service and who wants to read.
final class OriginCheck: NSObject, URLSessionTaskDelegate {
    enum Outcome: Equatable {
        case known(partner: String)
        /// It answered, but not as a verification service that has this session.
        case refused
        case unreachable
    }

    func check(_ link: ReaderLink) async -> Outcome {
        let session = URLSession(configuration: Self.configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        do {
            guard let document = try await body(link.origin.text + ReaderDocument.path, session), ReaderDocument.accepts(document),
                let details = try await body(link.origin.text + ReaderDocument.detailsPath(link.session), session),
                let partner = ReaderDocument.partner(details)
            else { return .refused }
            return .known(partner: partner)
        } catch {
            return .unreachable
        }
    }

    /// Keeps neither cookies nor answers.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 15
        return configuration
    }

    /// Nil for every answer but JSON at this very address.
    private func body(_ address: String, _ session: URLSession) async throws -> Data? {
        guard let url = URL(string: address) else { return nil }
        let (data, response) = try await session.data(from: url)
        guard let response = response as? HTTPURLResponse else { return nil }
        if response.statusCode == 429 || response.statusCode >= 500 { throw URLError(.badServerResponse) }
        let type = response.value(forHTTPHeaderField: "content-type")
        return ReaderDocument.isAnswer(status: response.statusCode, contentType: type) ? data : nil
    }

    /// No redirect is followed.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }
}
