type Send = (path: string, body: unknown, method?: "POST" | "PATCH") => Promise<Record<string, string>>;

export const password = "correct horse battery staple";

/**
 * Signs a person up with a new organization; the function sends as this owner and returns the answer's data.
 */
export async function newPartner(baseUrl: string, partner: { name: string; slug: string }): Promise<Send> {
  return (await newOwner(baseUrl, partner)).send;
}

/** The same, with the token that the owner is signed in by. */
export async function newOwner(
  baseUrl: string,
  { name, slug }: { name: string; slug: string },
): Promise<{ send: Send; token: string }> {
  let token: string | null = null;
  const send: Send = async (path, body, method = "POST") => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as {
      data: Record<string, string>;
      error: { message: string } | null;
    };
    if (error) throw new Error(error.message);
    return data;
  };
  const owner = { name, email: `${slug}@example.com`, password };
  token = (await send("/v1/auth/sign-up/email", owner)).token ?? "";
  await send("/v1/auth/orgs", { name, slug });
  return { send, token };
}
