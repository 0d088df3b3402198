// The part of UIKit that the shell uses, for the compiler only; see CoreNFC.swift.
@_exported import Foundation

@MainActor open class UIResponder: NSObject {
    @discardableResult open func resignFirstResponder() -> Bool { true }
}
public protocol UIApplicationDelegate: AnyObject {}
extension UIApplicationDelegate {
    @MainActor public static func main() {}
}
@MainActor public class UIApplication: UIResponder {
    public static let shared = UIApplication()
    public func open(_ url: URL) {}
}

public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"
public class NSUserActivity: NSObject {
    public var activityType = ""
    public var webpageURL: URL?
}

@MainActor public class UIScene: UIResponder {
    public class ConnectionOptions { public var userActivities: Set<NSUserActivity> = [] }
}
public class UISceneSession: NSObject {}
public class UIWindowScene: UIScene {}
@MainActor public protocol UIWindowSceneDelegate: AnyObject {
    var window: UIWindow? { get set }
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
    func sceneDidEnterBackground(_ scene: UIScene)
    func sceneWillEnterForeground(_ scene: UIScene)
}

@MainActor public struct NSLayoutAnchorStub {
    public func constraint(equalTo other: NSLayoutAnchorStub, constant: CGFloat = 0) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@MainActor public class NSLayoutConstraint: NSObject {
    public static func activate(_ constraints: [NSLayoutConstraint]) {}
}
@MainActor public class UILayoutGuide: NSObject {
    public let topAnchor = NSLayoutAnchorStub(), bottomAnchor = NSLayoutAnchorStub()
    public let leadingAnchor = NSLayoutAnchorStub(), trailingAnchor = NSLayoutAnchorStub()
}
public struct UIColor: Sendable {
    public static let systemBackground = UIColor(), systemRed = UIColor()
}
public struct UIFont: Sendable {
    public enum TextStyle: Sendable { case body, headline }
    public static func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}
@MainActor open class UIView: UIResponder {
    public var backgroundColor: UIColor?
    public var isHidden = false
    public var translatesAutoresizingMaskIntoConstraints = true
    public let topAnchor = NSLayoutAnchorStub(), bottomAnchor = NSLayoutAnchorStub()
    public let leadingAnchor = NSLayoutAnchorStub(), trailingAnchor = NSLayoutAnchorStub()
    public let safeAreaLayoutGuide = UILayoutGuide(), layoutMarginsGuide = UILayoutGuide()
    public let layer = CALayer()
    public var bounds = CGRect.zero
    public func addSubview(_ view: UIView) {}
    public func removeFromSuperview() {}
}
@MainActor open class CALayer: NSObject {
    public var frame = CGRect.zero
    public func addSublayer(_ layer: CALayer) {}
}
@MainActor open class UIViewController: UIResponder {
    public var view: UIView = UIView()
    public init(nibName: String?, bundle: Bundle?) {}
    public required init?(coder: NSCoder) {}
    open func viewDidLoad() {}
    open func viewDidLayoutSubviews() {}
    open func viewDidDisappear(_ animated: Bool) {}
}
public class UIWindow: UIView {
    public var rootViewController: UIViewController?
    public init(windowScene: UIWindowScene) {}
    public func makeKeyAndVisible() {}
}
public class UILabel: UIView {
    public var text: String?, font: UIFont?, textColor: UIColor?
    public var numberOfLines = 1
    public var adjustsFontForContentSizeCategory = false
}
@MainActor public protocol UITextFieldDelegate: AnyObject {
    func textFieldShouldReturn(_ textField: UITextField) -> Bool
}
public class UITextField: UIView {
    public enum BorderStyle { case roundedRect }
    public var text: String?, placeholder: String?, font: UIFont?
    public var borderStyle = BorderStyle.roundedRect
    public var adjustsFontForContentSizeCategory = false
    public var keyboardType = UIKeyboardType.URL
    public var autocorrectionType = UITextAutocorrectionType.no
    public var autocapitalizationType = UITextAutocapitalizationType.none
    public var spellCheckingType = UITextSpellCheckingType.no
    public var returnKeyType = UIReturnKeyType.go
    public weak var delegate: UITextFieldDelegate?
}
public enum UIKeyboardType { case URL }
public enum UITextAutocorrectionType { case no }
public enum UITextAutocapitalizationType { case none }
public enum UITextSpellCheckingType { case no }
public enum UIReturnKeyType { case go }
@MainActor public class UIAction: NSObject {
    public init(handler: @escaping (UIAction) -> Void) {}
}
public class UIControl: UIView {
    public enum State { case normal }
    public enum Event { case touchUpInside }
    public func addAction(_ action: UIAction, for event: Event) {}
}
public class UIButton: UIControl {
    public enum ButtonType { case system }
    public let titleLabel: UILabel? = nil
    public init(type: ButtonType) {}
    public func setTitle(_ title: String?, for state: State) {}
}
public class UIStackView: UIView {
    public enum Axis { case vertical }
    public var axis = Axis.vertical
    public var spacing: CGFloat = 0
    public init(arrangedSubviews: [UIView]) {}
    public func addArrangedSubview(_ view: UIView) {}
}
public enum UIAccessibility {
    public enum Notification { case announcement }
    public static func post(notification: Notification, argument: Any?) {}
}
