import { Type } from "typebox";
import { route } from "./route.ts";
import { closed, named, open, Text, Timestamp, Uuid } from "./schema.ts";

const tag = "Account";

export const Email = Type.String({
  maxLength: 254,
  pattern: "^[^\\s@\\u0000-\\u001f]{1,64}@[^\\s@.]+(\\.[^\\s@.]+)+$",
  examples: ["ada@example.com"],
});

export const Password = Type.String({
  minLength: 10,
  maxLength: 200,
  description: "At least 10 characters.",
});

export const PersonName = Text({ max: 120, examples: ["Ada Lovelace"] });

export const User = named(
  "User",
  open({
    id: Uuid,
    name: PersonName,
    email: Email,
    email_verified: Type.Boolean(),
    created_at: Timestamp,
  }),
);

export const SignedIn = named(
  "SignedIn",
  open({
    token: Type.String({
      description: "Access token for `Authorization: Bearer`. The session cookie holds the same.",
    }),
    user: User,
  }),
);

export const signUp = route({
  id: "signUp",
  method: "POST",
  path: "/v1/auth/sign-up/email",
  tag,
  summary: "Create an account",
  access: { public: true },
  body: named("SignUpBody", closed({ name: PersonName, email: Email, password: Password })),
  reply: { status: 201, data: SignedIn },
  errors: ["CONFLICT"],
});

export const signIn = route({
  id: "signIn",
  method: "POST",
  path: "/v1/auth/sign-in/email",
  tag,
  summary: "Sign in with e-mail and password",
  access: { public: true },
  body: named(
    "SignInBody",
    closed({ email: Email, password: Type.String({ minLength: 1, maxLength: 200 }) }),
  ),
  reply: { status: 200, data: SignedIn },
  errors: ["UNAUTHORIZED"],
});

export const accountRoutes = [signUp, signIn];
