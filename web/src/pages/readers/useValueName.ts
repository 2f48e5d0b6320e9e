import { useTranslation } from 'react-i18next'
import type { TableName } from './numbers'

/** Returns a function that names a value of a table in the reader's language. */
export function useValueName(): (by: TableName, value: string) => string {
  const { t, i18n } = useTranslation()
  return (by, value) => {
    if (value === 'other') return t('report.values.other')
    if (value === 'redacted' && by !== 'pages') return t('report.values.redacted')
    switch (by) {
      case 'channels':
        return t(`report.channels.${value as 'direct'}`, { defaultValue: value })
      case 'sources':
        // A visit without a known source has its channel as source.
        return value === 'direct' || value === 'internal' ? t(`report.channels.${value}`) : value
      case 'ages':
        return t(`report.ages.${value as '0'}`, { defaultValue: value })
      case 'devices':
        return t(`report.devices.${value as 'desktop'}`, { defaultValue: value })
      case 'countries':
        return /^[A-Z]{2}$/.test(value)
          ? (new Intl.DisplayNames(i18n.language, { type: 'region' }).of(value) ?? value)
          : value
      default:
        return value
    }
  }
}
