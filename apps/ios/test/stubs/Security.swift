// The part of the keychain that the shell uses, for the compiler only; see CoreNFC.swift.
public typealias CFString = String
public typealias CFTypeRef = Any
public typealias CFDictionary = [String: Any]

public let kSecClass = "class"
public let kSecClassGenericPassword = "genp"
public let kSecAttrService = "svce"
public let kSecAttrAccount = "acct"
public let kSecAttrAccessible = "pdmn"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = "aku"
public let kSecAttrSynchronizable = "sync"
public let kSecReturnData = "r_Data"
public let kSecMatchLimit = "m_Limit"
public let kSecMatchLimitOne = "m_LimitOne"
public let kSecValueData = "v_Data"
public let errSecSuccess: Int32 = 0

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }
@discardableResult public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }
@discardableResult public func SecItemDelete(_ query: CFDictionary) -> Int32 { 0 }
