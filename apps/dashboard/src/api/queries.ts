import type { Input, Pagination, Result } from "@assay/contract/client";
import type { RouteDefinition } from "@assay/contract/route";
import { QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { call, hasCode } from "./call.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A request that was answered with an error is not repeated; one without an answer is.
      retry: (failures, error) => failures < 2 && error instanceof TypeError,
      refetchOnWindowFocus: true,
      // Without a network a request fails visibly instead of waiting for ever.
      networkMode: "always",
      // A request that failed without a network is repeated as soon as there is one.
      refetchOnReconnect: ({ state }) => (state.status === "error" ? "always" : true),
    },
  },
});

type Options = { enabled?: boolean; refetchInterval?: number | false };

/** One resource. */
export function useData<const R extends RouteDefinition>(route: R, input: Input<R>, options: Options = {}) {
  return useQuery({
    queryKey: [route.id, input],
    queryFn: ({ signal }) => call(route, { ...input, signal }),
    ...options,
  });
}

type Listed<R extends RouteDefinition> = Result<R> extends { data: (infer T)[] } ? T : never;

/** A list that grows page by page. `items` are those loaded so far. */
export function useList<const R extends RouteDefinition>(
  route: R,
  input: { params?: Record<string, string>; query?: Record<string, unknown> } = {},
  options: Options = {},
) {
  const result = useInfiniteQuery({
    queryKey: [route.id, input],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        limit: 25,
        ...input.query,
        ...(pageParam === undefined ? {} : { starting_after: pageParam }),
      };
      const page = await call(route, { ...input, query, signal } as unknown as Input<R>);
      return page as unknown as { data: Listed<R>[]; pagination: Pagination };
    },
    getNextPageParam: (page) =>
      page.pagination.has_more ? (page.pagination.next_cursor ?? undefined) : undefined,
    ...options,
  });
  return { ...result, items: result.data?.pages.flatMap((page) => page.data) ?? [] };
}

/** Fetches again everything that these routes answered (invalidation). */
export async function refresh(...routes: readonly RouteDefinition[]): Promise<void> {
  await Promise.all(routes.map((route) => queries.invalidateQueries({ queryKey: [route.id] })));
}

export function isSignedOut(error: unknown): boolean {
  return hasCode(error, "UNAUTHORIZED");
}
