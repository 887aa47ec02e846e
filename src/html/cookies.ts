import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SessionKind } from '../people/sessions.ts'

/** With https, browsers accept `__Host-` cookies from this host only, for all of its paths, and never over http. */
export function cookieName(name: string, isHttps: boolean): string {
  return isHttps ? `__Host-${name}` : name
}

/** SameSite is Lax, so that a link from another site, such as an application's to OAuth, keeps the session. */
export function cookieOptions(isHttps: boolean): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps }
}

export interface SessionCookies {
  read(request: FastifyRequest, kind: SessionKind): string | undefined
  set(reply: FastifyReply, kind: SessionKind, session: { token: string; expiresAt: Date }): void
  clear(reply: FastifyReply, kind: SessionKind): void
  /** The device cookie (src/people/sign-in-delay.ts). */
  readDevices(request: FastifyRequest): string | undefined
  setDevices(reply: FastifyReply, devices: string): void
}

/** A year, within the 400 days that browsers allow. */
const DEVICES_SECONDS = 365 * 24 * 60 * 60

export function sessionCookies(publicUrl: string): SessionCookies {
  const isHttps = publicUrl.startsWith('https:')
  const options = cookieOptions(isHttps)
  return {
    read: ({ cookies }, kind) => cookies[cookieName(kind, isHttps)],
    set: (reply, kind, { token, expiresAt }) => {
      reply.setCookie(cookieName(kind, isHttps), token, { ...options, expires: expiresAt })
    },
    clear: (reply, kind) => {
      reply.clearCookie(cookieName(kind, isHttps), options)
    },
    readDevices: ({ cookies }) => cookies[cookieName('devices', isHttps)],
    setDevices: (reply, devices) => {
      reply.setCookie(cookieName('devices', isHttps), devices, { ...options, maxAge: DEVICES_SECONDS })
    },
  }
}
