import { base } from '../boot'

/** Shares a preference with the pages outside the dashboard, which have no scripts (internal/infra/webpage). */
export function sharePreference(name: 'language' | 'scheme', value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
  document.cookie = `dateline-${name}=${value}; Path=${base || '/'}; Max-Age=${value === '' ? 0 : 31_536_000}; SameSite=Lax${secure}`
}
