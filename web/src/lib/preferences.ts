import { base } from '../boot'

/** Tells the pages outside the dashboard, which have no scripts, what was chosen in it (internal/infra/webpage). */
export function sharePreference(name: 'language' | 'scheme', value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  document.cookie = `dateline-${name}=${value}; Path=${base || '/'}; Max-Age=${value === '' ? 0 : 31_536_000}; SameSite=Lax${secure}`
}
