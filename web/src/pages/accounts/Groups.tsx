import {
  ActionIcon,
  Button,
  Checkbox,
  Chip,
  ColorSwatch,
  Group,
  Input,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
  UnstyledButton,
} from '@mantine/core'
import { IconPencil, IconPlaylistAdd, IconPlus, IconTrash, IconX } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, type Schemas, unwrap } from '../../api/client'
import { ColorChoice } from '../../components/ColorChoice'
import { useConfirm } from '../../components/Confirm'
import { AccountName } from '../../components/network'
import { ZoneSelect } from '../../components/ZoneSelect'
import { NotLoaded } from '../../components/states'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { groupsQuery } from '../../lib/queries'
import { dayName, days } from '../../lib/rule'
import { useAtLeast, useMe } from '../../lib/session'
import { BestTimes } from './BestTimes'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

export type AccountGroup = Schemas['AccountGroup']
type Slot = Schemas['QueueSlot']

const sorted = (slots: Slot[]) => [...slots].sort((a, b) => a.weekday - b.weekday || a.time.localeCompare(b.time))
const has = (slots: Slot[], s: Slot) => slots.some((o) => o.weekday === s.weekday && o.time === s.time)

/** Groups of accounts, with the weekly slots of their queues. */
export function Groups({ accounts }: { accounts: Account[] }) {
  const { t } = useTranslation()
  const stored = useQuery(groupsQuery)
  const groups = stored.data
  const may = useAtLeast('editor')
  const [edited, setEdited] = useState<AccountGroup | 'new'>()
  if (!groups) return <NotLoaded what={t('groups.title')} queries={[stored]} />
  if (groups.length === 0 && !may) return null
  return (
    <Stack gap="sm" mt="xl" component="section" aria-label={t('groups.title')}>
      <Group justify="space-between">
        <div>
          <Title order={2} size="h3">
            {t('groups.title')}
          </Title>
          <Text c="dimmed" size="sm">
            {t('groups.lead')}
          </Text>
        </div>
        {may && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setEdited('new')}>
            {t('groups.new')}
          </Button>
        )}
      </Group>
      {groups.length > 0 && (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {groups.map((g) => (
            <GroupCard key={g.id} group={g} accounts={accounts} edit={may ? () => setEdited(g) : undefined} />
          ))}
        </SimpleGrid>
      )}
      {edited && (
        <EditGroup
          group={edited === 'new' ? undefined : edited}
          accounts={accounts}
          close={() => setEdited(undefined)}
        />
      )}
    </Stack>
  )
}

function GroupCard({ group: g, accounts, edit }: { group: AccountGroup; accounts: Account[]; edit?: () => void }) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs" className="dl-card" p="md" component="article" aria-label={g.name} data-group={g.name}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <ColorSwatch color={`var(--mantine-color-${g.color}-6)`} size={14} withShadow={false} aria-hidden />
          <Text fw={600} truncate>
            {g.name}
          </Text>
        </Group>
        {edit && (
          <ActionIcon variant="subtle" color="gray" aria-label={t('groups.edit', { name: g.name })} onClick={edit}>
            <IconPencil size={18} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      <Group gap="sm">
        {accounts
          .filter((a) => g.accounts.includes(a.id))
          .map((a) => (
            <AccountName key={a.id} network={a.network} handle={a.handle} />
          ))}
      </Group>
      {g.slots.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('groups.noSlots')}
        </Text>
      ) : (
        <Week slots={g.slots} zone={g.time_zone} />
      )}
    </Stack>
  )
}

/** The slots of a week, a column for each day. */
function Week({ slots, zone, remove }: { slots: Slot[]; zone: string; remove?: (s: Slot) => void }) {
  const { t, i18n } = useTranslation()
  return (
    <Stack gap={6}>
      <ul className="dl-week" aria-label={t('groups.slots')}>
        {days.map((day, i) => {
          const here = sorted(slots.filter((s) => s.weekday === i + 1))
          return (
            <li key={day}>
              <Text size="xs" c="dimmed" fw={600} mb={2}>
                {dayName(day, i18n.language, 'short')}
              </Text>
              <Stack gap={3}>
                {here.map((s) =>
                  remove ? (
                    <UnstyledButton
                      key={s.time}
                      className="dl-slot"
                      aria-label={t('groups.removeSlot', { day: dayName(day, i18n.language), time: s.time })}
                      onClick={() => remove(s)}
                    >
                      {s.time}
                      <IconX size={12} aria-hidden />
                    </UnstyledButton>
                  ) : (
                    <span key={s.time} className="dl-slot">
                      {s.time}
                    </span>
                  ),
                )}
                {here.length === 0 && (
                  <Text size="xs" c="dimmed" aria-label={t('groups.noSlotsDay')}>
                    –
                  </Text>
                )}
              </Stack>
            </li>
          )
        })}
      </ul>
      <Text size="xs" c="dimmed">
        {t('groups.slotCount', { count: slots.length })} · {zone.replaceAll('_', ' ')}
      </Text>
    </Stack>
  )
}

function EditGroup({ group, accounts, close }: { group?: AccountGroup; accounts: Account[]; close: () => void }) {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  const form = `group ${group?.id ?? ''}`
  const [name, setName] = useFormState(form, 'name', group?.name ?? '')
  const [color, setColor] = useFormState(form, 'color', group?.color ?? 'indigo')
  const [chosen, setChosen] = useFormState(
    form,
    'chosen',
    group?.accounts ?? accounts.filter((a) => a.status !== 'disconnected').map((a) => a.id),
  )
  const [zone, setZone] = useFormState(form, 'zone', group?.time_zone ?? me.workspace.time_zone)
  const [slots, setSlots] = useFormState<Slot[]>(form, 'slots', group?.slots ?? [])
  const [on, setOn] = useState<string[]>(['1', '2', '3', '4', '5'])
  const [time, setTime] = useState('09:00')
  const [dialog, ask] = useConfirm()
  const done = () => {
    void client.invalidateQueries({ queryKey: ['account-groups'] })
    void client.invalidateQueries({ queryKey: ['queue-slots'] })
    void client.invalidateQueries({ queryKey: ['preview'] })
    forget(form)
    close()
  }
  const save = useAct({
    send: () => {
      const body = { name, color, accounts: chosen, time_zone: zone, slots: sorted(slots) }
      return group
        ? unwrap(api.PATCH('/api/v1/account-groups/{id}', { params: { path: { id: group.id } }, body }))
        : unwrap(api.POST('/api/v1/account-groups', { body }))
    },
    accepted: () => {
      done()
    },
    done: () => t('groups.saved'),
  })
  const remove = useAct({
    send: async () =>
      group && unwrap(api.DELETE('/api/v1/account-groups/{id}', { params: { path: { id: group.id } } })),
    show: () => showChange<AccountGroup>(client, ['account-groups'], (one) => (one.id === group?.id ? undefined : one)),
    accepted: done,
    done: () => t('act.deleted', { name }),
  })
  const valid = /^([01]\d|2[0-3]):[0-5]\d$/.test(time)
  const add = () =>
    setSlots((all) => [...all, ...on.map((d) => ({ weekday: Number(d), time })).filter((s) => !has(all, s))])
  return (
    <FormDialog form={form} opened onClose={close} size="lg" title={t(group ? 'groups.editTitle' : 'groups.new')}>
      {dialog}
      <Stack gap="md">
        <TextInput
          label={t('groups.name')}
          placeholder={t('groups.namePlaceholder')}
          maxLength={80}
          required
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          data-autofocus
        />
        <ColorChoice label={t('groups.color')} value={color} onChange={setColor} />
        <Checkbox.Group label={t('groups.accounts')} value={chosen} onChange={setChosen}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} mt={6} spacing={6}>
            {accounts
              .filter((a) => a.status !== 'disconnected' || chosen.includes(a.id))
              .map((a) => (
                <Checkbox key={a.id} value={a.id} label={<AccountName network={a.network} handle={a.handle} />} />
              ))}
          </SimpleGrid>
        </Checkbox.Group>
        <Input.Wrapper label={t('groups.queue')} description={t('groups.queueText')} labelElement="div">
          <Group mt={8} gap="sm" align="flex-end">
            <Chip.Group multiple value={on} onChange={setOn}>
              <Group gap={4} role="group" aria-label={t('groups.days')}>
                {days.map((day, i) => (
                  <Chip key={day} value={String(i + 1)} size="xs" radius="sm">
                    {dayName(day, i18n.language, 'short')}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
            <TextInput
              aria-label={t('groups.time')}
              w={84}
              placeholder="07:30"
              value={time}
              error={time !== '' && !valid}
              onChange={(e) => setTime(e.currentTarget.value)}
              className="dl-numbers"
            />
            <Button
              variant="default"
              leftSection={<IconPlaylistAdd size={16} aria-hidden />}
              disabled={!valid || on.length === 0}
              onClick={add}
            >
              {t('groups.addSlot')}
            </Button>
          </Group>
        </Input.Wrapper>
        <BestTimes
          accounts={chosen}
          zone={zone}
          isTaken={(s) => has(slots, s)}
          add={(s) => setSlots((all) => [...all, s])}
        />
        {slots.length > 0 && (
          <Week slots={slots} zone={zone} remove={(s) => setSlots((all) => all.filter((o) => o !== s))} />
        )}
        <ZoneSelect label={t('groups.zone')} value={zone} onChange={setZone} maw={300} />
        <Group justify="space-between">
          {group ? (
            <Button
              variant="subtle"
              color="red"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() =>
                ask({
                  title: t('groups.deleteTitle', { name: group.name }),
                  text: t('groups.deleteText'),
                  action: t('groups.delete'),
                  danger: true,
                  run: () => remove.mutate(),
                })
              }
            >
              {t('groups.delete')}
            </Button>
          ) : (
            <span />
          )}
          <Group gap="xs">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button
              loading={save.isPending}
              disabled={name.trim() === '' || chosen.length === 0}
              onClick={() => save.mutate()}
            >
              {t('groups.save')}
            </Button>
          </Group>
        </Group>
      </Stack>
    </FormDialog>
  )
}
