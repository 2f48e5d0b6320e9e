import i18n from 'i18next'
import { initReactI18next } from 'react-i18next'
import { sharePreference } from '../lib/preferences'
import type messages from './en.json'

/** A language is a file of texts next to this one, a file of the API's messages, and a line here. */
export const languages = {
  en: { name: 'English', load: () => import('./en.json'), messages: () => import('./messages/en.json') },
  vi: { name: 'Tiếng Việt', load: () => import('./vi.json'), messages: () => import('./messages/vi.json') },
} as const
export type Language = keyof typeof languages

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof messages }
  }
}

const isLanguage = (code: string | null): code is Language => code !== null && code in languages

function preferred(): Language {
  const kept = localStorage.getItem('dateline-language')
  if (isLanguage(kept)) return kept
  return navigator.languages.map((l) => l.slice(0, 2)).find(isLanguage) ?? 'en'
}

export async function startLanguage(): Promise<void> {
  await i18n.use(initReactI18next).init({
    lng: 'none',
    fallbackLng: false,
    resources: {},
    interpolation: { escapeValue: false }, // React escapes
    react: { useSuspense: false },
  })
  await setLanguage(preferred())
}

export async function setLanguage(language: Language): Promise<void> {
  if (!i18n.hasResourceBundle(language, 'translation')) {
    const [texts, messages] = await Promise.all([languages[language].load(), languages[language].messages()])
    i18n.addResourceBundle(language, 'translation', texts.default)
    i18n.addResourceBundle(language, 'messages', messages.default)
  }
  await i18n.changeLanguage(language)
  document.documentElement.lang = language
  sharePreference('language', language)
}

/** Also stores the choice. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem('dateline-language', language)
  await setLanguage(language)
}
