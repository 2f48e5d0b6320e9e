import {
  Accordion,
  Badge,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Account, Schemas } from '../../../api/client'
import { NetworkIcon, networkName } from '../../../components/network'
import type { Draft } from '../draft'
import { problemText } from '../../../i18n/message'
import { Buttons, type LinkButton } from './Buttons'
import {
  countOf,
  type Field,
  type FieldName,
  type Options,
  optionFields,
  type ValueName,
  type Values,
  valueAt,
  valuesOf,
  withNetwork,
  withValue,
} from './fields'
import { Poll } from './Poll'

type Problems = Schemas['FieldProblem'][]

interface Props {
  options: Draft['options']
  setDraft: (update: (d: Draft) => Draft) => void
  accounts: Account[]
  problems: Problems
}

/** The options of a post for each network. */
export function OptionsPanel({ options, setDraft, accounts, problems }: Props) {
  const { t } = useTranslation()
  const networks = [...new Set(accounts.map((a) => a.network))].filter((n) => optionFields[n])
  if (networks.length === 0) return null
  const hasProblem = (network: string) => problems.some((p) => p.field.startsWith(`options.${network}`))
  return (
    <Accordion multiple variant="contained" radius="md" aria-label={t('options.title')} keepMounted={false}>
      {networks.map((network) => {
        const count = countOf(options, network)
        return (
          <Accordion.Item key={network} value={network} data-options={network}>
            <Accordion.Control>
              <Group gap={8}>
                <NetworkIcon network={network} />
                <Text size="sm">{t('options.for', { network: networkName(network) })}</Text>
                {count > 0 && (
                  <Badge size="sm" variant="light" tt="none" color={hasProblem(network) ? 'red' : undefined}>
                    {t('options.set', { count })}
                  </Badge>
                )}
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <NetworkFields
                network={network}
                values={valuesOf(options, network)}
                problems={problems}
                prefix={`options.${network}.`}
                change={(values) => setDraft((d) => ({ ...d, options: withNetwork(d.options, network, values) }))}
              />
            </Accordion.Panel>
          </Accordion.Item>
        )
      })}
    </Accordion>
  )
}

/** The options of one account: inherited from its network, or its own. */
export function AccountOptions({
  draft,
  setDraft,
  account,
  problems,
}: Omit<Props, 'accounts' | 'options'> & { draft: Draft; account: Account }) {
  const { t } = useTranslation()
  const { id, network } = account
  if (!optionFields[network]) return null
  const own = draft.versions[id]?.options
  const set = (options: Options | undefined) =>
    setDraft((d) => ({ ...d, versions: { ...d.versions, [id]: { ...d.versions[id], options } } }))
  return (
    <Stack gap="xs">
      <Checkbox
        label={t('options.same', { network: networkName(network) })}
        checked={own === undefined}
        onChange={(e) =>
          set(
            e.currentTarget.checked
              ? undefined
              : withNetwork({}, network, structuredClone(valuesOf(draft.options, network))),
          )
        }
      />
      {own && (
        <NetworkFields
          network={network}
          values={valuesOf(own, network)}
          problems={problems}
          prefix={`overrides.${id}.options.${network}.`}
          change={(values) => set(withNetwork({}, network, values))}
        />
      )}
    </Stack>
  )
}

function NetworkFields({
  network,
  values,
  problems,
  prefix,
  change,
}: {
  network: string
  values: Values
  problems: Problems
  prefix: string
  change: (values: Values) => void
}) {
  const error = (field: string) => {
    const found = problems.find((p) => p.field === prefix + field)
    return found && problemText(found)
  }
  return (
    <Stack gap="sm">
      {(optionFields[network] ?? []).map((field) => (
        <Control
          key={field.name}
          field={field}
          values={values}
          error={error}
          set={(value) => change(withValue(values, field.name, value, field.kind === 'switch' && field.fallback))}
        />
      ))}
    </Stack>
  )
}

function Control({
  field,
  values,
  error,
  set,
}: {
  field: Field
  values: Values
  error: (field: string) => string | undefined
  set: (value: unknown) => void
}) {
  const { t } = useTranslation()
  const value = valueAt(values, field.name)
  const key = field.name.replace('.', '_') as FieldName
  const common = { label: t(`options.field.${key}`), error: error(field.name) }
  const named = (names: ValueName[]) => names.map((name) => ({ value: name, label: t(`options.value.${name}`) }))
  switch (field.kind) {
    case 'choice':
      return (
        <Select
          {...common}
          data={named(field.values)}
          value={(value as string) ?? null}
          onChange={set}
          clearable
          placeholder={t('options.default')}
        />
      )
    case 'choices':
      return (
        <MultiSelect
          {...common}
          data={named(field.values)}
          value={((value ?? []) as string[]).filter((v) => field.values.includes(v as ValueName))}
          clearable
          placeholder={t('options.default')}
          onChange={(all) =>
            set(field.alone && all.at(-1) === field.alone ? [field.alone] : all.filter((v) => v !== field.alone))
          }
        />
      )
    case 'switch': {
      const on = value === undefined ? field.fallback === true : value === true
      return (
        <Switch
          {...common}
          checked={on}
          onChange={(e) =>
            set(e.currentTarget.checked === (field.fallback === true) ? undefined : e.currentTarget.checked)
          }
        />
      )
    }
    case 'text':
      return (
        <TextInput
          {...common}
          value={(value as string) ?? ''}
          maxLength={field.max}
          onChange={(e) => set(e.currentTarget.value)}
        />
      )
    case 'area':
      return (
        <Textarea
          {...common}
          value={(value as string) ?? ''}
          maxLength={field.max}
          autosize
          minRows={2}
          maxRows={8}
          onChange={(e) => set(e.currentTarget.value)}
        />
      )
    case 'list':
      return (
        <TagsInput
          {...common}
          value={(value as string[]) ?? []}
          maxTags={field.max}
          description={t('options.enterEach')}
          onChange={set}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          value={(value as number) ?? ''}
          min={0}
          max={field.max}
          allowDecimal={false}
          onChange={(n) => set(n === '' ? undefined : Number(n))}
        />
      )
    case 'poll':
      return <Poll value={value as Values | undefined} limits={field.poll} change={set} error={error} />
    case 'buttons':
      return <Buttons value={(value ?? []) as LinkButton[][]} change={set} error={error} />
  }
}
