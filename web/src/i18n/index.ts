import i18n from 'i18next'
import { initReactI18next } from 'react-i18next'
import { sharePreference } from '../lib/preferences'
import type messages from './en.json'

/** A language is a file of texts next to this one, a file of the API's messages, and lines here. */
export const languages = {
  en: {
    name: 'English',
    first: () => import('virtual:texts/en/first'),
    rest: () => import('virtual:texts/en/rest'),
    messages: () => import('./messages/en.json'),
  },
  vi: {
    name: 'Tiếng Việt',
    first: () => import('virtual:texts/vi/first'),
    rest: () => import('virtual:texts/vi/rest'),
    messages: () => import('./messages/vi.json'),
  },
} as const
export type Language = keyof typeof languages

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof messages }
  }
}

const isLanguage = (code: string | null | undefined): code is Language => !!code && code in languages

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
  const language = preferred()
  await loadFirst(language)
  await use(language)
}

async function loadFirst(language: Language): Promise<void> {
  if (!i18n.hasResourceBundle(language, 'translation'))
    i18n.addResourceBundle(language, 'translation', (await languages[language].first()).default)
}

const complete = new Set<string>()

/** Loads the texts of pages, and the API's messages. */
export async function loadTexts(language = i18n.language): Promise<void> {
  if (!isLanguage(language) || complete.has(language)) return
  const [texts, messages] = await Promise.all([languages[language].rest(), languages[language].messages()])
  i18n.addResourceBundle(language, 'translation', texts.default, true)
  i18n.addResourceBundle(language, 'messages', messages.default)
  complete.add(language)
}

async function use(language: Language): Promise<void> {
  await i18n.changeLanguage(language)
  document.documentElement.lang = language
  sharePreference('language', language)
}

export async function setLanguage(language: Language): Promise<void> {
  await Promise.all([loadFirst(language), loadTexts(language)])
  await use(language)
}

/** Also stores the choice. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem('dateline-language', language)
  await setLanguage(language)
}
