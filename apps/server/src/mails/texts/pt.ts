import type { MailTexts } from "../mail-texts.ts";

export const pt: MailTexts = {
  hello: "Olá,",
  helloName: "Olá {name},",
  orOpen: "Se o botão não funcionar, abra este endereço:",
  sentBy:
    "Enviado pelo Assay em {host}. O Assay verifica pessoas pelo chip do passaporte ou cartão de identidade.",
  closing: {
    ignore: "Se não esperava esta mensagem, pode ignorá-la.",
    notYou: "Se não foi você, reponha a palavra-passe e termine já todas as outras sessões.",
  },
  because: {
    asked: "Recebe esta mensagem porque foi pedida com o seu endereço em {host}.",
    address: "Recebe esta mensagem porque alguém introduziu o seu endereço em {host}.",
    account: "Recebe esta mensagem porque diz respeito à segurança da sua conta em {host}.",
    formerAccount: "Recebe esta mensagem porque tinha uma conta em {host}.",
    invited: "Recebe esta mensagem porque alguém convidou este endereço em {host}.",
    owner: "Recebe esta mensagem porque é proprietário de {organization} em {host}.",
    formerOwner: "Recebe esta mensagem porque era proprietário de {organization} em {host}.",
    operator: "Recebe esta mensagem porque OPERATOR_EMAIL da instalação {host} é este endereço.",
  },
  removed: {
    passkeys:
      "As chaves de acesso entram sem palavra-passe, por isso foram removidas: {names}. Volte a adicionar as suas.",
    second_factor: "O segundo fator configurado antes da confirmação do e-mail foi removido.",
  },
  roles: { member: "membro", admin: "administrador", owner: "proprietário" },
  letters: {
    magic_link: {
      subject: "A sua ligação para entrar",
      body: ["Esta ligação inicia a sua sessão. Funciona uma vez, durante 15 minutos."],
      button: "Iniciar sessão",
    },
    reset_password: {
      subject: "Definir uma nova palavra-passe",
      body: [
        "Com esta ligação define uma nova palavra-passe e termina todas as sessões. Funciona uma vez, durante uma hora.",
      ],
      button: "Nova palavra-passe",
    },
    verify_email: {
      subject: "Confirme o seu e-mail",
      body: [
        "Foi criada uma conta com este endereço. Abra a ligação e inicie sessão com a palavra-passe escolhida. Funciona durante um dia.",
        "Se não criou a conta, pode ignorar esta mensagem: o endereço não ficará confirmado.",
      ],
      button: "Confirmar o e-mail",
    },
    change_email: {
      subject: "Confirme o seu novo e-mail",
      body: [
        "Este endereço será o e-mail da sua conta. Abra a ligação com a sessão iniciada. Funciona uma vez, durante uma hora.",
      ],
      button: "Usar este e-mail",
    },
    account_exists: {
      subject: "Já tem uma conta",
      body: [
        "Alguém quis registar-se com este endereço. Já tem uma conta, por isso nada foi alterado.",
        "Se foi você, inicie sessão. Se não sabe a palavra-passe, defina uma nova: {reset}",
      ],
      button: "Iniciar sessão",
    },
    email_taken: {
      subject: "Este e-mail já tem uma conta",
      body: [
        "Alguém quis usar este endereço como e-mail de outra conta. Já tem uma conta, por isso nada foi alterado.",
        "Se foi você, inicie sessão com este endereço ou elimine primeiro a conta dele.",
      ],
    },
    email_change_requested: {
      subject: "Foi pedida uma alteração do seu e-mail",
      body: ["A sua conta vai ter o e-mail {email}. Nada muda até esse endereço o confirmar."],
    },
    email_changed: {
      subject: "O seu e-mail foi alterado",
      body: ["A sua conta tem agora o e-mail {email}. Este endereço já não permite entrar."],
    },
    password_changed: {
      subject: "A sua palavra-passe foi alterada",
      body: ["A palavra-passe da sua conta foi alterada e todas as outras sessões foram terminadas."],
    },
    password_reset: {
      subject: "A sua palavra-passe foi reposta",
      body: [
        "Foi definida uma nova palavra-passe com uma ligação enviada por e-mail e todas as sessões foram terminadas.",
      ],
    },
    email_verified: {
      subject: "O seu e-mail foi confirmado",
      body: [
        "Iniciou sessão com uma ligação antes de o e-mail estar confirmado. Agora está. A palavra-passe anterior foi removida; defina uma nova com «palavra-passe esquecida».",
      ],
    },
    passkey_added: {
      subject: "Foi adicionada uma chave de acesso",
      body: ["A chave de acesso «{name}» foi adicionada à sua conta. Permite iniciar sessão."],
    },
    passkey_deleted: {
      subject: "Foi eliminada uma chave de acesso",
      body: ["A chave de acesso «{name}» foi eliminada da sua conta."],
    },
    second_factor_on: {
      subject: "O segundo fator foi ativado",
      body: ["A partir de agora, a sua conta pede um código da aplicação de autenticação."],
    },
    second_factor_off: {
      subject: "O segundo fator foi desativado",
      body: ["A sua conta já não pede um código."],
    },
    account_deleted: {
      subject: "A sua conta foi eliminada",
      body: [
        "A sua conta e tudo o que lhe pertencia em exclusivo foram eliminados. Pode voltar a registar-se com o mesmo e-mail.",
      ],
    },
    invitation: {
      subject: "Convite para {organization}",
      body: [
        "{inviter} ({email}) convida-o a juntar-se a {organization}. A sua função: {role}.",
        "{organization} usa o Assay para verificar quem são os seus clientes. Inicie sessão com este endereço, ou crie uma conta com ele, e aceite. A ligação é válida por 7 dias.",
      ],
      button: "Abrir o convite",
    },
    deletion_code: {
      subject: "Código para eliminar {organization}",
      body: [
        "Pediu a eliminação da organização {organization}. Introduza este código para confirmar:",
        "{code}",
        "É válido por 24 horas e só para si. Após a confirmação, a organização fica logo congelada e, 48 horas depois, tudo é eliminado para sempre.",
        "Se não foi você, mude a palavra-passe: alguém entrou na sua conta.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} vai ser eliminada",
      body: [
        "{person} ({email}) confirmou a eliminação da organização {organization}.",
        "Está agora congelada: as chaves de API não funcionam e nada pode ser alterado. Em {at}, tudo será eliminado para sempre.",
        "Até lá, um proprietário ou administrador pode mantê-la.",
      ],
      button: "Abrir a organização",
    },
    deletion_cancelled: {
      subject: "{organization} mantém-se",
      body: [
        "{person} ({email}) cancelou a eliminação da organização {organization}. Tudo volta a funcionar, incluindo as chaves de API.",
      ],
      button: "Abrir a organização",
    },
    organization_deleted: {
      subject: "{organization} foi eliminada",
      body: [
        "A organização {organization} e tudo o que continha foram eliminados em {at}. A sua conta mantém-se.",
        "Este é o recibo assinado. Guarde-o: não resta aqui nada com que o refazer.",
        "{receipt}",
        "É um JWS compacto assinado com Ed25519. A chave pública está em {keys}, indicada pelo seu «kid».",
      ],
    },
    domain_missing: {
      subject: "Falta o registo de verificação de {domain}",
      body: [
        "Três verificações diárias seguidas não encontraram o registo TXT que prova que controla {domain}.",
        "Até voltar, as sessões reais não podem encaminhar ninguém para este domínio. Os endereços de redirecionamento mantêm-se.",
        "Publique de novo o registo em {record} ou verifique novamente o domínio.",
      ],
      button: "Abrir os domínios",
    },
    domain_back: {
      subject: "{domain} está de novo verificado",
      body: [
        "O registo de verificação de {domain} voltou. As sessões reais podem de novo encaminhar para lá.",
      ],
      button: "Abrir os domínios",
    },
    domain_lost: {
      subject: "{domain} está agora verificado por outra organização",
      body: [
        "Outra organização provou que controla {domain} e retirou o domínio a {organization}.",
        "Os endereços de redirecionamento neste domínio foram removidos e as sessões reais já não podem encaminhar para lá.",
        "Se o domínio é seu, veja quem pode alterar o DNS, remova o registo alheio e verifique o domínio outra vez.",
      ],
      button: "Abrir os domínios",
    },
    no_active_key: {
      subject: "Um webhook não pôde ser enviado: sem chave de cifra ativa",
      body: [
        "Um evento destinava-se a um ponto de receção sem chave de cifra ativa. Os webhooks são sempre cifrados, por isso nada foi enviado e este evento não poderá ser enviado depois.",
        "Ponto de receção: {endpoint}",
        "Registe uma chave, ou reative uma, para que o próximo evento chegue. O resultado pode ser lido na sessão.",
      ],
      button: "Abrir os webhooks",
    },
    endpoint_gone: {
      subject: "Um ponto de receção de webhooks foi desativado",
      body: [
        "Desativámos um ponto de receção porque respondeu 410 Gone, que nos pede para parar.",
        "Ponto de receção: {endpoint}",
        "O que o espera fica retido. Volte a ativá-lo quando funcionar e os envios continuam.",
      ],
      button: "Abrir os webhooks",
    },
    endpoint_failing: {
      subject: "Um ponto de receção de webhooks foi desativado",
      body: [
        "Desativámos um ponto de receção porque nenhum envio teve êxito em cinco dias.",
        "Ponto de receção: {endpoint}",
        "O que o espera fica retido. Volte a ativá-lo quando funcionar e os envios continuam.",
      ],
      button: "Abrir os webhooks",
    },
    member_keys: {
      subject: "Chaves de API de um membro sem acesso",
      body: [
        "{person} ({email}) já não gere as chaves de API de {organization}.",
        "Chaves que esta pessoa criou e que foram agora desativadas: {disabled}.",
        "Chaves que esta pessoa criou e que continuam a funcionar: {active}. Quem tiver guardado uma pode usá-la até que a desative ou elimine.",
      ],
      button: "Abrir as chaves de API",
    },
    endpoint_added: {
      subject: "Foi adicionado um ponto de receção de webhooks",
      body: [
        "Foi adicionado um ponto de receção de webhooks em produção. Assim que tiver uma chave de cifragem, recebe os resultados das verificações.",
        "Ponto de receção: {endpoint}",
        "Adicionado por: {actor}",
        "Se não esperava isto, desative o ponto de receção e verifique quem tem chaves de API.",
      ],
      button: "Abrir os webhooks",
    },
    endpoint_moved: {
      subject: "O endereço de um ponto de receção foi alterado",
      body: [
        "O URL de um ponto de receção de webhooks em produção foi alterado. A partir de agora os resultados das verificações são enviados para o novo endereço.",
        "Ponto de receção: {endpoint}",
        "Alterado por: {actor}",
        "Se não esperava isto, desative o ponto de receção e verifique quem tem chaves de API.",
      ],
      button: "Abrir os webhooks",
    },
    key_added: {
      subject: "Foi adicionada uma chave de cifragem",
      body: [
        "Foi adicionada ou reativada uma chave de cifragem num ponto de receção de webhooks em produção. Quem tiver a parte privada pode ler os resultados enviados para lá.",
        "Ponto de receção: {endpoint}",
        "Chave: {key}",
        "Adicionada por: {actor}",
        "Se não esperava isto, desative a chave e verifique quem tem chaves de API.",
      ],
      button: "Abrir os webhooks",
    },
    signer_revoked: {
      subject: "O signatário de uma lista de confiança foi revogado",
      body: [
        "{signer}, que assinou {list}, está numa lista de revogação posterior à importação. O que a lista nomeia continua de confiança até decidir.",
        "Para a retirar, execute:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} autoridades de confiança vão ser removidas",
      body: [
        "Na edição mais recente de {address} faltam {count} autoridades da anterior. Contam até {at} e são então removidas.",
        "Autoridades:\n{names}",
        "Para as manter, execute:",
        "{keep}",
        "Para as remover já, execute:",
        "{remove}",
      ],
    },
  },
};
