import UIKit

/// Shows who asks to read, before opening the origin. Until the origin has answered, only its name is shown.
final class AskController: UIViewController {
    private let link: ReaderLink
    private let onAnswer: (Answer) -> Void
    private let column = UIStackView(arrangedSubviews: [])

    enum Answer { case agreed, declined, refused, unreachable }

    init(link: ReaderLink, onAnswer: @escaping (Answer) -> Void) {
        self.link = link
        self.onAnswer = onAnswer
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
        fatalError("The shell has no storyboard")
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        column.axis = .vertical
        column.spacing = 16
        column.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(column)
        NSLayoutConstraint.activate([
            column.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor, constant: 32),
            column.leadingAnchor.constraint(equalTo: view.layoutMarginsGuide.leadingAnchor),
            column.trailingAnchor.constraint(equalTo: view.layoutMarginsGuide.trailingAnchor),
        ])
        column.addArrangedSubview(label(link.origin.shown, .headline))
        Task { [weak self] in
            guard let link = self?.link else { return }
            let outcome = await OriginCheck().check(link)
            self?.show(outcome)
        }
    }

    private func show(_ outcome: OriginCheck.Outcome) {
        switch outcome {
        case .refused: onAnswer(.refused)
        case .unreachable: onAnswer(.unreachable)
        case .known(let partner):
            // The marks isolate the direction of host and name from that of the sentence.
            column.addArrangedSubview(label(String(format: TextKey.askTitle.text, "\u{2066}\(link.origin.shown)\u{2069}"), .headline))
            column.addArrangedSubview(label(String(format: TextKey.askPartner.text, "\u{2068}\(partner)\u{2069}"), .body))
            column.addArrangedSubview(label(TextKey.askText.text, .body))
            column.addArrangedSubview(button(TextKey.askAgree.text, .agreed))
            column.addArrangedSubview(button(TextKey.askDecline.text, .declined))
        }
    }

    private func button(_ title: String, _ answer: Answer) -> UIButton {
        let button = UIButton(type: .system)
        button.setTitle(title, for: .normal)
        button.titleLabel?.font = .preferredFont(forTextStyle: .headline)
        button.addAction(UIAction { [weak self] _ in self?.onAnswer(answer) }, for: .touchUpInside)
        return button
    }

    private func label(_ text: String, _ style: UIFont.TextStyle) -> UILabel {
        let label = UILabel()
        label.text = text
        label.numberOfLines = 0
        label.font = .preferredFont(forTextStyle: style)
        label.adjustsFontForContentSizeCategory = true
        return label
    }
}
