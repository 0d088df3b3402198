// The part of WebKit that the shell uses, for the compiler only; see CoreNFC.swift. Methods of the shell are
// required here, although some are optional in WebKit, so that a wrong name is noticed.
@_exported import Foundation
import UIKit

@MainActor public class WKSecurityOrigin: NSObject {
    public let `protocol` = "", host = "", port = 0
}
@MainActor public class WKFrameInfo: NSObject {
    public let isMainFrame = true, securityOrigin = WKSecurityOrigin()
}
@MainActor public class WKScriptMessage: NSObject {
    public let body: Any = "", frameInfo = WKFrameInfo()
}
public class WKContentWorld: NSObject, @unchecked Sendable { public static let page = WKContentWorld() }
public enum WKUserScriptInjectionTime { case atDocumentStart }
@MainActor public class WKUserScript: NSObject {
    public init(source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool, in contentWorld: WKContentWorld) {}
}
@MainActor public protocol WKScriptMessageHandlerWithReply: AnyObject {
    func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage) async -> (Any?, String?)
}
@MainActor public class WKUserContentController: NSObject {
    public func addScriptMessageHandler(_ handler: WKScriptMessageHandlerWithReply, contentWorld: WKContentWorld, name: String) {}
    public func addUserScript(_ script: WKUserScript) {}
    public func removeAllScriptMessageHandlers() {}
}
@MainActor public class WKWebsiteDataStore: NSObject {
    public static func nonPersistent() -> WKWebsiteDataStore { WKWebsiteDataStore() }
}
public struct WKAudiovisualMediaTypes: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}
@MainActor public class WKWebViewConfiguration: NSObject {
    public var websiteDataStore = WKWebsiteDataStore.nonPersistent()
    public var limitsNavigationsToAppBoundDomains = false
    public var allowsInlineMediaPlayback = false
    public var mediaTypesRequiringUserActionForPlayback: WKAudiovisualMediaTypes = []
    public var userContentController = WKUserContentController()
}
public class WKNavigation: NSObject {}
@MainActor public class WKNavigationAction: NSObject {
    public let request = URLRequestStub(), targetFrame: WKFrameInfo? = nil
}
public struct URLRequestStub { public let url: URL? = nil }
public struct URLRequest { public init(url: URL) {} }
public class WKWindowFeatures: NSObject {}
public enum WKNavigationActionPolicy { case cancel, allow }
public enum WKMediaCaptureType { case camera, microphone, cameraAndMicrophone }
public enum WKPermissionDecision { case prompt, grant, deny }
@MainActor public protocol WKNavigationDelegate: AnyObject {
    func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)
    func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: Error)
    func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
}
@MainActor public protocol WKUIDelegate: AnyObject {
    func webView(
        _ webView: WKWebView, decideMediaCapturePermissionsFor origin: WKSecurityOrigin, initiatedBy frame: WKFrameInfo,
        type: WKMediaCaptureType
    ) async -> WKPermissionDecision
    func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration, for navigationAction: WKNavigationAction,
        windowFeatures: WKWindowFeatures
    ) -> WKWebView?
}
public class WKWebView: UIView {
    public let configuration: WKWebViewConfiguration
    public weak var navigationDelegate: WKNavigationDelegate?
    public weak var uiDelegate: WKUIDelegate?
    public var allowsLinkPreview = true, allowsBackForwardNavigationGestures = false, isInspectable = false
    public let url: URL? = nil
    public init(frame: CGRect, configuration: WKWebViewConfiguration) { self.configuration = configuration }
    public func load(_ request: URLRequest) {}
    public func reload() {}
    public func stopLoading() {}
}
