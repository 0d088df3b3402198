type Method = "POST" | "PATCH";

export const password = "correct horse battery staple";

/** Sends as the holder of a token and returns the answer's data. */
export function callerOf(baseUrl: string) {
  return async <T = Record<string, string>>(
    path: string,
    token: string,
    body: unknown,
    method: Method = "POST",
  ): Promise<T> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as { data: T; error: { message: string } | null };
    if (error) throw new Error(error.message);
    return data;
  };
}

/** Signs a person up with a new organization; `send` sends as this owner, who is signed in by `token`. */
export async function newOwner(baseUrl: string, { name, slug }: { name: string; slug: string }) {
  const call = callerOf(baseUrl);
  const owner = { name, email: `${slug}@example.com`, password };
  const { token = "" } = await call("/v1/auth/sign-up/email", "", owner);
  await call("/v1/auth/orgs", token, { name, slug });
  return {
    send: (path: string, body: unknown, method?: Method) => call(path, token, body, method),
    token,
  };
}
