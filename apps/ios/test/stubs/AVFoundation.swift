// The part of AVFoundation that the shell uses, for the compiler only; see CoreNFC.swift.
@_exported import Foundation
import UIKit

public struct AVMediaType: Sendable { public static let video = AVMediaType() }
public class AVCaptureDevice: NSObject {
    public static func requestAccess(for mediaType: AVMediaType) async -> Bool { false }
    public static func `default`(for mediaType: AVMediaType) -> AVCaptureDevice? { nil }
}
public class AVCaptureInput: NSObject {}
public class AVCaptureDeviceInput: AVCaptureInput {
    public init(device: AVCaptureDevice) throws {}
}
public class AVCaptureOutput: NSObject {}
public class AVCaptureConnection: NSObject {}
public class AVMetadataObject: NSObject {
    public struct ObjectType: Hashable, Sendable { public static let qr = ObjectType() }
}
public class AVMetadataMachineReadableCodeObject: AVMetadataObject {
    public let stringValue: String? = nil
}
public protocol AVCaptureMetadataOutputObjectsDelegate: AnyObject {
    func metadataOutput(
        _ output: AVCaptureMetadataOutput, didOutput metadataObjects: [AVMetadataObject], from connection: AVCaptureConnection)
}
public class AVCaptureMetadataOutput: AVCaptureOutput {
    public let availableMetadataObjectTypes: [AVMetadataObject.ObjectType] = []
    public var metadataObjectTypes: [AVMetadataObject.ObjectType]! = []
    public func setMetadataObjectsDelegate(_ delegate: AVCaptureMetadataOutputObjectsDelegate?, queue: DispatchQueue?) {}
}
public class AVCaptureSession: NSObject, @unchecked Sendable {
    public func canAddInput(_ input: AVCaptureInput) -> Bool { false }
    public func addInput(_ input: AVCaptureInput) {}
    public func canAddOutput(_ output: AVCaptureOutput) -> Bool { false }
    public func addOutput(_ output: AVCaptureOutput) {}
    public func startRunning() {}
    public func stopRunning() {}
}
public struct AVLayerVideoGravity: Sendable { public static let resizeAspectFill = AVLayerVideoGravity() }
public class AVCaptureVideoPreviewLayer: CALayer {
    public var videoGravity = AVLayerVideoGravity.resizeAspectFill
    public init(session: AVCaptureSession) {}
}
