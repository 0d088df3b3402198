import type { MailTexts } from "../mail-texts.ts";

export const es: MailTexts = {
  hello: "Hola:",
  helloName: "Hola, {name}:",
  orOpen: "Si el botón no funciona, abra esta dirección:",
  sentBy:
    "Enviado por Assay en {host}. Assay verifica a las personas con el chip de su pasaporte o documento de identidad.",
  closing: {
    ignore: "Si no esperaba este mensaje, puede ignorarlo.",
    notYou: "Si no fue usted, restablezca su contraseña y cierre cuanto antes las demás sesiones.",
  },
  because: {
    asked: "Recibe este mensaje porque se pidió con su dirección en {host}.",
    address: "Recibe este mensaje porque alguien escribió su dirección en {host}.",
    account: "Recibe este mensaje porque afecta a la seguridad de su cuenta en {host}.",
    formerAccount: "Recibe este mensaje porque tenía una cuenta en {host}.",
    invited: "Recibe este mensaje porque alguien invitó a esta dirección en {host}.",
    owner: "Recibe este mensaje porque es propietario de {organization} en {host}.",
    formerOwner: "Recibe este mensaje porque era propietario de {organization} en {host}.",
    operator: "Recibe este mensaje porque OPERATOR_EMAIL de la instalación {host} es esta dirección.",
  },
  removed: {
    passkeys:
      "Las llaves de acceso inician sesión sin contraseña, por eso se eliminaron: {names}. Vuelva a añadir las suyas.",
    second_factor: "Se eliminó el segundo factor configurado antes de verificar el correo.",
  },
  roles: { member: "miembro", admin: "administrador", owner: "propietario" },
  letters: {
    magic_link: {
      subject: "Su enlace para iniciar sesión",
      body: ["Este enlace inicia su sesión. Funciona una vez, durante 15 minutos."],
      button: "Iniciar sesión",
    },
    reset_password: {
      subject: "Establecer una contraseña nueva",
      body: [
        "Con este enlace establece una contraseña nueva y se cierran todas sus sesiones. Funciona una vez, durante una hora.",
      ],
      button: "Nueva contraseña",
    },
    verify_email: {
      subject: "Verifique su correo",
      body: [
        "Se creó una cuenta con esta dirección. Abra el enlace e inicie sesión con la contraseña elegida. Funciona durante un día.",
        "Si no creó la cuenta, puede ignorar este mensaje: la dirección no quedará verificada.",
      ],
      button: "Verificar el correo",
    },
    change_email: {
      subject: "Confirme su nuevo correo",
      body: [
        "Esta dirección será el correo de su cuenta. Abra el enlace con la sesión iniciada. Funciona una vez, durante una hora.",
      ],
      button: "Usar este correo",
    },
    account_exists: {
      subject: "Ya tiene una cuenta",
      body: [
        "Alguien quiso registrarse con esta dirección. Ya tiene una cuenta, así que no se cambió nada.",
        "Si fue usted, inicie sesión. Si no sabe la contraseña, establezca una nueva: {reset}",
      ],
      button: "Iniciar sesión",
    },
    email_taken: {
      subject: "Este correo ya tiene una cuenta",
      body: [
        "Alguien quiso usar esta dirección como correo de otra cuenta. Ya tiene una cuenta, así que no se cambió nada.",
        "Si fue usted, inicie sesión con esta dirección o elimine antes su cuenta.",
      ],
    },
    email_change_requested: {
      subject: "Se pidió cambiar su correo",
      body: ["Su cuenta va a tener el correo {email}. Nada cambia hasta que esa dirección lo confirme."],
    },
    email_changed: {
      subject: "Se cambió su correo",
      body: ["Su cuenta tiene ahora el correo {email}. Con esta dirección ya no se inicia sesión."],
    },
    password_changed: {
      subject: "Se cambió su contraseña",
      body: ["Se cambió la contraseña de su cuenta y se cerraron todas las demás sesiones."],
    },
    password_reset: {
      subject: "Se restableció su contraseña",
      body: [
        "Se estableció una contraseña nueva con un enlace enviado por correo y se cerraron todas las sesiones.",
      ],
    },
    email_verified: {
      subject: "Se verificó su correo",
      body: [
        "Inició sesión con un enlace antes de verificar el correo. Ahora está verificado. La contraseña anterior se eliminó; establezca una nueva con «contraseña olvidada».",
      ],
    },
    passkey_added: {
      subject: "Se añadió una llave de acceso",
      body: ["La llave de acceso «{name}» se añadió a su cuenta. Permite iniciar sesión."],
    },
    passkey_deleted: {
      subject: "Se eliminó una llave de acceso",
      body: ["La llave de acceso «{name}» se eliminó de su cuenta."],
    },
    second_factor_on: {
      subject: "Se activó el segundo factor",
      body: ["A partir de ahora su cuenta pide un código de la aplicación de autenticación."],
    },
    second_factor_off: {
      subject: "Se desactivó el segundo factor",
      body: ["Su cuenta ya no pide ningún código."],
    },
    account_deleted: {
      subject: "Se eliminó su cuenta",
      body: [
        "Se eliminaron su cuenta y todo lo que le pertenecía solo a ella. Puede volver a registrarse con el mismo correo.",
      ],
    },
    invitation: {
      subject: "Invitación a {organization}",
      body: [
        "{inviter} ({email}) le invita a unirse a {organization}. Su función: {role}.",
        "{organization} usa Assay para comprobar quiénes son sus clientes. Inicie sesión con esta dirección, o cree una cuenta con ella, y acepte. El enlace vale 7 días.",
      ],
      button: "Abrir la invitación",
    },
    deletion_code: {
      subject: "Código para eliminar {organization}",
      body: [
        "Pidió eliminar la organización {organization}. Escriba este código para confirmarlo:",
        "{code}",
        "Vale 24 horas y solo para usted. Tras la confirmación, la organización se congela al instante y 48 horas después se elimina todo para siempre.",
        "Si no lo pidió usted, cambie su contraseña: alguien ha entrado en su cuenta.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} se va a eliminar",
      body: [
        "{person} ({email}) confirmó la eliminación de la organización {organization}.",
        "Está congelada: las claves de API no funcionan y no se puede cambiar nada. El {at} se eliminará todo para siempre.",
        "Hasta entonces, un propietario o administrador puede conservarla.",
      ],
      button: "Abrir la organización",
    },
    deletion_cancelled: {
      subject: "{organization} se conserva",
      body: [
        "{person} ({email}) canceló la eliminación de la organización {organization}. Todo funciona de nuevo, también las claves de API.",
      ],
      button: "Abrir la organización",
    },
    organization_deleted: {
      subject: "{organization} se eliminó",
      body: [
        "La organización {organization} y todo su contenido se eliminaron el {at}. Su propia cuenta se conserva.",
        "Este es el recibo firmado. Guárdelo: aquí no queda nada con lo que volver a hacerlo.",
        "{receipt}",
        "Es un JWS compacto firmado con Ed25519. La clave pública está en {keys}, identificada por su «kid».",
      ],
    },
    domain_missing: {
      subject: "Falta el registro de verificación de {domain}",
      body: [
        "Tres comprobaciones diarias seguidas no encontraron el registro TXT que demuestra que controla {domain}.",
        "Hasta que vuelva, las sesiones reales no pueden llevar a nadie a este dominio. Las direcciones de redirección se conservan.",
        "Publique de nuevo el registro en {record} o verifique otra vez el dominio.",
      ],
      button: "Abrir los dominios",
    },
    domain_back: {
      subject: "{domain} está verificado de nuevo",
      body: [
        "El registro de verificación de {domain} ha vuelto. Las sesiones reales pueden llevar de nuevo allí.",
      ],
      button: "Abrir los dominios",
    },
    domain_lost: {
      subject: "{domain} está ahora verificado por otra organización",
      body: [
        "Otra organización demostró que controla {domain} y se lo ha quitado a {organization}.",
        "Las direcciones de redirección de este dominio se eliminaron y las sesiones reales ya no pueden llevar allí.",
        "Si el dominio es suyo, compruebe quién puede cambiar su DNS, quite el registro ajeno y verifique el dominio otra vez.",
      ],
      button: "Abrir los dominios",
    },
    no_active_key: {
      subject: "No se pudo enviar un webhook: no hay clave de cifrado activa",
      body: [
        "Un evento iba dirigido a un punto de recepción sin clave de cifrado activa. Los webhooks siempre van cifrados, así que no se envió nada y este evento no podrá enviarse después.",
        "Punto de recepción: {endpoint}",
        "Registre una clave o reactive una para que llegue el próximo evento. El resultado puede leerse en la sesión.",
      ],
      button: "Abrir los webhooks",
    },
    endpoint_gone: {
      subject: "Se desactivó un punto de recepción de webhooks",
      body: [
        "Desactivamos un punto de recepción porque respondió 410 Gone, que nos pide parar.",
        "Punto de recepción: {endpoint}",
        "Lo que lo espera queda retenido. Vuelva a activarlo cuando funcione y los envíos continuarán.",
      ],
      button: "Abrir los webhooks",
    },
    endpoint_failing: {
      subject: "Se desactivó un punto de recepción de webhooks",
      body: [
        "Desactivamos un punto de recepción porque ningún envío ha llegado en cinco días.",
        "Punto de recepción: {endpoint}",
        "Lo que lo espera queda retenido. Vuelva a activarlo cuando funcione y los envíos continuarán.",
      ],
      button: "Abrir los webhooks",
    },
    member_keys: {
      subject: "Claves de API de un miembro sin acceso",
      body: [
        "{person} ({email}) ya no gestiona las claves de API de {organization}.",
        "Claves que creó y que se han desactivado ahora: {disabled}.",
        "Claves que creó y que siguen funcionando: {active}. Quien haya guardado una puede usarla hasta que usted la desactive o la elimine.",
      ],
      button: "Abrir las claves de API",
    },
    endpoint_added: {
      subject: "Se añadió un punto de recepción de webhooks",
      body: [
        "Se añadió un punto de recepción de webhooks en producción. En cuanto tenga una clave de cifrado, se le enviarán los resultados de las verificaciones.",
        "Punto de recepción: {endpoint}",
        "Añadido por: {actor}",
        "Si no lo esperaba, desactive el punto de recepción y compruebe quién tiene claves de API.",
      ],
      button: "Abrir los webhooks",
    },
    endpoint_moved: {
      subject: "Se cambió la dirección de un punto de recepción",
      body: [
        "Se cambió la URL de un punto de recepción de webhooks en producción. Desde ahora los resultados de las verificaciones se envían a la nueva dirección.",
        "Punto de recepción: {endpoint}",
        "Cambiado por: {actor}",
        "Si no lo esperaba, desactive el punto de recepción y compruebe quién tiene claves de API.",
      ],
      button: "Abrir los webhooks",
    },
    key_added: {
      subject: "Se añadió una clave de cifrado",
      body: [
        "Se añadió o se reactivó una clave de cifrado en un punto de recepción de webhooks en producción. Quien tenga su parte privada puede leer los resultados que se envían allí.",
        "Punto de recepción: {endpoint}",
        "Clave: {key}",
        "Añadida por: {actor}",
        "Si no lo esperaba, desactive la clave y compruebe quién tiene claves de API.",
      ],
      button: "Abrir los webhooks",
    },
    signer_revoked: {
      subject: "Se revocó al firmante de una lista de confianza",
      body: [
        "{signer}, que firmó {list}, figura en una lista de revocación posterior a la importación. Lo que nombra la lista sigue siendo de confianza hasta que usted decida.",
        "Para retirarla, ejecute:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "Se van a retirar {count} autoridades de confianza",
      body: [
        "En la última edición de {address} faltan {count} autoridades de la anterior. Cuentan hasta el {at} y entonces se retiran.",
        "Autoridades:\n{names}",
        "Para conservarlas, ejecute:",
        "{keep}",
        "Para retirarlas ya, ejecute:",
        "{remove}",
      ],
    },
  },
};
