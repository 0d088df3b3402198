import type { MailTexts } from "../mail-texts.ts";

export const tr: MailTexts = {
  hello: "Merhaba,",
  helloName: "Merhaba {name},",
  orOpen: "Düğme çalışmıyorsa bu adresi açın:",
  sentBy:
    "{host} üzerindeki Assay tarafından gönderildi. Assay, kişileri pasaport veya kimlik kartlarının çipiyle doğrular.",
  closing: {
    ignore: "Bu iletiyi beklemiyorsanız yok sayabilirsiniz.",
    notYou: "Bunu siz yapmadıysanız hemen şifrenizi sıfırlayın ve diğer tüm oturumları kapatın.",
  },
  because: {
    asked: "Bu iletiyi, {host} üzerinde adresinizle istendiği için alıyorsunuz.",
    address: "Bu iletiyi, biri {host} üzerinde adresinizi girdiği için alıyorsunuz.",
    account: "Bu iletiyi, {host} üzerindeki hesabınızın güvenliğiyle ilgili olduğu için alıyorsunuz.",
    formerAccount: "Bu iletiyi, {host} üzerinde bir hesabınız olduğu için alıyorsunuz.",
    invited: "Bu iletiyi, biri {host} üzerinde bu adresi davet ettiği için alıyorsunuz.",
    owner: "Bu iletiyi, {host} üzerinde {organization} kuruluşunun sahibi olduğunuz için alıyorsunuz.",
    formerOwner:
      "Bu iletiyi, {host} üzerinde {organization} kuruluşunun sahibi olmuş olduğunuz için alıyorsunuz.",
    operator: "Bu iletiyi, {host} kurulumunun OPERATOR_EMAIL ayarı bu adres olduğu için alıyorsunuz.",
  },
  removed: {
    passkeys:
      "Geçiş anahtarları şifresiz oturum açar, bu yüzden kaldırıldı: {names}. Kendinizinkini yeniden ekleyin.",
    second_factor: "E-posta doğrulanmadan önce kurulan ikinci adım kaldırıldı.",
  },
  roles: { member: "üye", admin: "yönetici", owner: "sahip" },
  letters: {
    magic_link: {
      subject: "Oturum açma bağlantınız",
      body: ["Bu bağlantı oturumunuzu açar. Bir kez ve 15 dakika boyunca çalışır."],
      button: "Oturum aç",
    },
    reset_password: {
      subject: "Yeni şifre belirleyin",
      body: [
        "Bu bağlantıyla yeni bir şifre belirler ve her yerde oturumu kapatırsınız. Bir kez ve bir saat boyunca çalışır.",
      ],
      button: "Yeni şifre belirle",
    },
    verify_email: {
      subject: "E-postanızı doğrulayın",
      body: [
        "Bu adresle bir hesap oluşturuldu. Bağlantıyı açın ve seçilen şifreyle oturum açın. Bir gün geçerlidir.",
        "Hesabı siz oluşturmadıysanız bu iletiyi yok sayabilirsiniz: adres o zaman doğrulanmaz.",
      ],
      button: "E-postayı doğrula",
    },
    change_email: {
      subject: "Yeni e-postanızı onaylayın",
      body: [
        "Bu adres hesabınızın e-postası olacak. Bağlantıyı oturumunuz açıkken açın. Bir kez ve bir saat boyunca çalışır.",
      ],
      button: "Bu e-postayı kullan",
    },
    account_exists: {
      subject: "Zaten bir hesabınız var",
      body: [
        "Biri bu adresle kaydolmak istedi. Adresin zaten bir hesabı var, bu yüzden hiçbir şey değişmedi.",
        "Bu sizseniz oturum açın. Şifreyi bilmiyorsanız yenisini belirleyin: {reset}",
      ],
      button: "Oturum aç",
    },
    email_taken: {
      subject: "Bu e-postanın zaten bir hesabı var",
      body: [
        "Biri bu adresi başka bir hesabın e-postası yapmak istedi. Adresin zaten bir hesabı var, bu yüzden hiçbir şey değişmedi.",
        "Bu sizseniz bu adresle oturum açın veya önce onun hesabını silin.",
      ],
    },
    email_change_requested: {
      subject: "E-postanızın değiştirilmesi istendi",
      body: ["Hesabınızın e-postası {email} olacak. O adres onaylayana kadar hiçbir şey değişmez."],
    },
    email_changed: {
      subject: "E-postanız değiştirildi",
      body: ["Hesabınızın e-postası artık {email}. Bu adresle artık oturum açılamaz."],
    },
    password_changed: {
      subject: "Şifreniz değiştirildi",
      body: ["Hesabınızın şifresi değiştirildi ve diğer tüm oturumlar kapatıldı."],
    },
    password_reset: {
      subject: "Şifreniz sıfırlandı",
      body: ["E-postayla gönderilen bir bağlantıyla yeni şifre belirlendi ve tüm oturumlar kapatıldı."],
    },
    email_verified: {
      subject: "E-postanız doğrulandı",
      body: [
        "E-posta doğrulanmadan önce bir bağlantıyla oturum açtınız. Artık doğrulandı. Önceki şifre kaldırıldı; “şifremi unuttum” ile yenisini belirleyin.",
      ],
    },
    passkey_added: {
      subject: "Bir geçiş anahtarı eklendi",
      body: ["“{name}” geçiş anahtarı hesabınıza eklendi. Onunla oturum açılabilir."],
    },
    passkey_deleted: {
      subject: "Bir geçiş anahtarı silindi",
      body: ["“{name}” geçiş anahtarı hesabınızdan silindi."],
    },
    second_factor_on: {
      subject: "İkinci adım açıldı",
      body: ["Bundan böyle hesabınız doğrulama uygulamasının kodunu ister."],
    },
    second_factor_off: {
      subject: "İkinci adım kapatıldı",
      body: ["Hesabınız artık kod istemiyor."],
    },
    account_deleted: {
      subject: "Hesabınız silindi",
      body: [
        "Hesabınız ve yalnızca ona ait olan her şey silindi. Aynı e-postayla yeniden kaydolabilirsiniz.",
      ],
    },
    invitation: {
      subject: "{organization} daveti",
      body: [
        "{inviter} ({email}) sizi {organization} kuruluşuna davet ediyor. Rolünüz: {role}.",
        "{organization}, müşterilerinin kim olduğunu Assay ile doğrular. Bu e-posta adresiyle oturum açın veya hesap oluşturun ve kabul edin. Bağlantı 7 gün geçerlidir.",
      ],
      button: "Daveti aç",
    },
    deletion_code: {
      subject: "{organization} kuruluşunu silme kodu",
      body: [
        "{organization} kuruluşunun silinmesini istediniz. Onaylamak için bu kodu girin:",
        "{code}",
        "24 saat ve yalnızca sizin için geçerlidir. Onaydan sonra kuruluş hemen dondurulur, 48 saat sonra içindeki her şey kalıcı olarak silinir.",
        "Bunu siz istemediyseniz şifrenizi değiştirin: biri hesabınızda oturum açmış.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} silinecek",
      body: [
        "{person} ({email}), {organization} kuruluşunun silinmesini onayladı.",
        "Şu an dondurulmuş durumda: API anahtarları çalışmaz ve hiçbir şey değiştirilemez. {at} tarihinde içindeki her şey kalıcı olarak silinecek.",
        "O zamana kadar bir sahip veya yönetici onu koruyabilir.",
      ],
      button: "Kuruluşu aç",
    },
    deletion_cancelled: {
      subject: "{organization} kalıyor",
      body: [
        "{person} ({email}), {organization} kuruluşunun silinmesini iptal etti. API anahtarları dahil her şey yeniden çalışıyor.",
      ],
      button: "Kuruluşu aç",
    },
    organization_deleted: {
      subject: "{organization} silindi",
      body: [
        "{organization} kuruluşu ve içindeki her şey {at} tarihinde silindi. Kendi hesabınız kalıyor.",
        "Bu, imzalı makbuzdur. Saklayın: burada onu yeniden oluşturacak hiçbir şey kalmadı.",
        "{receipt}",
        "Ed25519 ile imzalanmış kompakt bir JWS’dir. Açık anahtar {keys} adresindedir ve “kid” ile belirtilir.",
      ],
    },
    domain_missing: {
      subject: "{domain} doğrulama kaydı eksik",
      body: [
        "Art arda üç günlük denetim, {domain} denetiminizi kanıtlayan TXT kaydını bulamadı.",
        "Kayıt geri gelene kadar canlı oturumlar kimseyi bu alan adına yönlendiremez. Yönlendirme adresleri korunur.",
        "Kaydı {record} altında yeniden yayımlayın veya alan adını yeniden doğrulayın.",
      ],
      button: "Alan adlarını aç",
    },
    domain_back: {
      subject: "{domain} yeniden doğrulandı",
      body: ["{domain} doğrulama kaydı geri geldi. Canlı oturumlar oraya yeniden yönlendirebilir."],
      button: "Alan adlarını aç",
    },
    domain_lost: {
      subject: "{domain} artık başka bir kuruluş tarafından doğrulandı",
      body: [
        "Başka bir kuruluş {domain} alan adını denetlediğini kanıtladı ve onu {organization} kuruluşundan devraldı.",
        "Bu alan adındaki yönlendirme adresleri kaldırıldı ve canlı oturumlar artık oraya yönlendiremez.",
        "Alan adı sizinse DNS’ini kimin değiştirebildiğini denetleyin, yabancı kaydı kaldırın ve alan adını yeniden doğrulayın.",
      ],
      button: "Alan adlarını aç",
    },
    no_active_key: {
      subject: "Bir webhook gönderilemedi: etkin şifreleme anahtarı yok",
      body: [
        "Bir olay, etkin şifreleme anahtarı olmayan bir webhook uç noktası içindi. Webhook’lar her zaman şifrelenir; bu yüzden hiçbir şey gönderilmedi ve bu olay sonradan gönderilemez.",
        "Uç nokta: {endpoint}",
        "Sonraki olayın ulaşması için bir anahtar kaydedin veya birini yeniden etkinleştirin. Sonucun kendisi oturumdan okunabilir.",
      ],
      button: "Webhook’ları aç",
    },
    endpoint_gone: {
      subject: "Bir webhook uç noktası kapatıldı",
      body: [
        "Bir webhook uç noktasını, durmamızı isteyen 410 Gone yanıtını verdiği için kapattık.",
        "Uç nokta: {endpoint}",
        "Onu bekleyenler tutuluyor. Çalıştığında yeniden açın, gönderimler sürsün.",
      ],
      button: "Webhook’ları aç",
    },
    endpoint_failing: {
      subject: "Bir webhook uç noktası kapatıldı",
      body: [
        "Bir webhook uç noktasını, beş gündür hiçbir gönderim başarılı olmadığı için kapattık.",
        "Uç nokta: {endpoint}",
        "Onu bekleyenler tutuluyor. Çalıştığında yeniden açın, gönderimler sürsün.",
      ],
      button: "Webhook’ları aç",
    },
    member_keys: {
      subject: "Erişimi kalmayan bir üyenin API anahtarları",
      body: [
        "{person} ({email}) artık {organization} API anahtarlarını yönetmiyor.",
        "Bu kişinin oluşturduğu ve şimdi kapatılan anahtarlar: {disabled}.",
        "Bu kişinin oluşturduğu ve hâlâ çalışan anahtarlar: {active}. Birini saklayan kişi, siz kapatana ya da silene kadar onu kullanabilir.",
      ],
      button: "API anahtarlarını aç",
    },
    endpoint_added: {
      subject: "Bir webhook uç noktası eklendi",
      body: [
        "Canlı ortama bir webhook uç noktası eklendi. Bir şifreleme anahtarı olduğunda doğrulama sonuçları ona gönderilir.",
        "Uç nokta: {endpoint}",
        "Ekleyen: {actor}",
        "Bunu beklemiyorduysanız uç noktayı kapatın ve kimlerde API anahtarı olduğunu denetleyin.",
      ],
      button: "Webhook’ları aç",
    },
    endpoint_moved: {
      subject: "Bir webhook uç noktasının adresi değişti",
      body: [
        "Canlı ortamdaki bir webhook uç noktasının URL’si değiştirildi. Doğrulama sonuçları artık yeni adrese gönderilir.",
        "Uç nokta: {endpoint}",
        "Değiştiren: {actor}",
        "Bunu beklemiyorduysanız uç noktayı kapatın ve kimlerde API anahtarı olduğunu denetleyin.",
      ],
      button: "Webhook’ları aç",
    },
    key_added: {
      subject: "Bir şifreleme anahtarı eklendi",
      body: [
        "Canlı ortamdaki bir webhook uç noktasına şifreleme anahtarı eklendi ya da anahtar yeniden etkinleştirildi. Özel parçasını elinde tutan, oraya gönderilen sonuçları okuyabilir.",
        "Uç nokta: {endpoint}",
        "Anahtar: {key}",
        "Ekleyen: {actor}",
        "Bunu beklemiyorduysanız anahtarı devre dışı bırakın ve kimlerde API anahtarı olduğunu denetleyin.",
      ],
      button: "Webhook’ları aç",
    },
    signer_revoked: {
      subject: "Güvendiğiniz bir listenin imzacısı iptal edildi",
      body: [
        "{list} listesini imzalayan {signer}, içe aktarmadan sonra gelen bir iptal listesinde. Listenin adlandırdıkları siz karar verene kadar güvenilir kalır.",
        "Geri almak için çalıştırın:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} güvenilir makam kaldırılacak",
      body: [
        "{address} kaynağının en yeni sürümünde önceki sürümdeki {count} makam yok. {at} tarihine kadar geçerlidirler, sonra kaldırılırlar.",
        "Makamlar:\n{names}",
        "Tutmak için çalıştırın:",
        "{keep}",
        "Hemen kaldırmak için çalıştırın:",
        "{remove}",
      ],
    },
  },
};
