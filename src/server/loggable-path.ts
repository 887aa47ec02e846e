interface RoutedRequest {
  readonly url: string
  readonly routeOptions: { readonly url?: string | undefined }
  readonly params: unknown
}

/**
 * The path of a request, as logs have it: where all that its route leaves open are identifiers, numbers of at most ten digits.
 * Anything else may be a key or a password in a wrong place; the route stands there with the identifiers filled in. Empty: no
 * route.
 */
export function loggablePath({ url, routeOptions, params }: RoutedRequest): string {
  const given = (params ?? {}) as Readonly<Record<string, string | undefined>>
  const filled = (routeOptions.url ?? '').replace(/:(\w+)/g, (placeholder, name: string) => {
    const value = given[name] ?? ''
    return /^\d{1,10}$/.test(value) ? value : placeholder
  })
  const [path = ''] = url.split(/[?#]/, 1)
  return path.toLowerCase() === filled.toLowerCase() ? path : filled
}
