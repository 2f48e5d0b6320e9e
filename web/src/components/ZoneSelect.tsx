import { Select, type SelectProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { zoneNames } from '../lib/time'

/** Selects an IANA time zone. */
export function ZoneSelect({
  value,
  onChange,
  ...rest
}: { value: string; onChange: (zone: string) => void } & Omit<SelectProps, 'value' | 'onChange' | 'data'>) {
  const { t } = useTranslation()
  const zones = zoneNames()
  return (
    <Select
      label={t('zone')}
      searchable
      allowDeselect={false}
      maxDropdownHeight={280}
      limit={80}
      nothingFoundMessage={t('state.nothing')}
      data={zones.includes(value) ? zones : [value, ...zones]}
      value={value}
      onChange={(zone) => zone && onChange(zone)}
      {...rest}
    />
  )
}
