import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'

/** The name of an engine, or its id if it is unknown. */
export const engineName = (t: TFunction, name: string) =>
  t(`system.engine.${name as 'database'}`, { defaultValue: name })

type Underscored<T> = T extends `${infer A}.${infer B}` ? `${A}_${B}` : never

/** The part of a message's key that stands for a type of event. */
export const typeKey = (type: Schemas['WebhookType']) => type.replace('.', '_') as Underscored<Schemas['WebhookType']>

const sizes = [
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
] as const

/** Formats amounts in the language. */
export function useAmounts() {
  const { i18n } = useTranslation()
  const language = i18n.language
  const unit = (n: number, name: string, digits: number) =>
    new Intl.NumberFormat(language, { style: 'unit', unit: name, maximumFractionDigits: digits }).format(n)
  return {
    number: (n: number) => new Intl.NumberFormat(language).format(n),
    ms: (n: number) => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(n),
    bytes: (n: number) => {
      const [name, size] = sizes.find(([, s]) => n >= s) ?? ['kilobyte', 1e3]
      return unit(n / size, name, n / size < 10 ? 1 : 0)
    },
    duration: (n: number) => {
      const size = Math.abs(n)
      if (size < 1000)
        return `${new Intl.NumberFormat(language, { maximumFractionDigits: size < 10 ? 1 : 0 }).format(n)} ms`
      if (size < 120_000) return unit(n / 1000, 'second', size < 10_000 ? 1 : 0)
      return size < 7_200_000 ? unit(n / 60_000, 'minute', 0) : unit(n / 3_600_000, 'hour', 1)
    },
  }
}
