import { ActionIcon, Alert, Button, Group, NativeSelect, Stack, Table, Text, TextInput, Tooltip } from '@mantine/core'
import { IconLink, IconLinkOff, IconTrash, IconUserPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Role, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { Copy } from '../../components/Copy'
import { Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { useAtLeast, useMe } from '../../lib/session'
import { forget, useFormState } from '../../lib/formState'

const route = getRouteApi('/system')

const roles: Role[] = ['owner', 'editor', 'author', 'viewer']

export function Members() {
  const { t } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  const owner = useAtLeast('owner')
  const list = useQuery({
    queryKey: ['members'],
    queryFn: async () => (await unwrap(api.GET('/api/v1/members', { params: { query: { limit: 200 } } }))).members,
  })
  const form = 'member'
  const [email, setEmail] = useFormState(form, 'email', '')
  const [role, setRole] = useFormState<Role>(form, 'role', 'author')
  // A command may ask to invite somebody in a role.
  const { invite: asked } = route.useSearch()
  const field = useRef<HTMLInputElement>(null)
  const isReady = list.isSuccess
  useEffect(() => {
    const wanted = roles.find((r) => r === asked)
    if (!wanted || !isReady) return
    setRole(wanted)
    field.current?.focus()
  }, [asked, isReady, setRole])
  const settled = () => void client.invalidateQueries({ queryKey: ['members'] })
  const invite = useAct({
    send: () => unwrap(api.POST('/api/v1/members', { params: { header: idempotencyHeader() }, body: { email, role } })),
    accepted: (m) => {
      forget(form)
      makeLink.mutate(m)
    },
    settled,
    done: () => t('system.invited', { email }),
  })
  const [link, setLink] = useState<{ url: string; title: string; name: string }>()
  const makeLink = useAct({
    send: ({ id }: Schemas['Member']) =>
      unwrap(api.POST('/api/v1/members/{id}/login-link', { params: { path: { id } } })),
    accepted: ({ url }, m) =>
      setLink({ url, title: t(m.joined_at ? 'system.loginLinkOf' : 'system.invitationOf', m), name: m.name }),
    settled,
    done: () => undefined,
  })
  const revokeLink = useAct({
    send: ({ id }: Schemas['Member']) =>
      unwrap(api.DELETE('/api/v1/members/{id}/login-link', { params: { path: { id } } })),
    accepted: () => setLink(undefined),
    settled,
    done: () => t('act.revoked'),
  })
  const change = useAct({
    send: (m: { id: string; name: string; role: Role; before: Role }) =>
      unwrap(api.PATCH('/api/v1/members/{id}', { params: { path: { id: m.id } }, body: { role: m.role } })),
    show: (m) =>
      showChange<Schemas['Member']>(client, ['members'], (one) => (one.id === m.id ? { ...one, role: m.role } : one)),
    done: (_, m) => t('system.roleChanged', { name: m.name, role: t(`role.${m.role}`) }),
    undo: (_, m) => ({ ...m, role: m.before, before: m.role }),
    failed: (m) => t('act.refused', { name: m.name }),
    about: ['members'],
  })
  const remove = useAct({
    send: ({ id }: { id: string; name: string }) =>
      unwrap(api.DELETE('/api/v1/members/{id}', { params: { path: { id } } })),
    show: ({ id }) => showChange<Schemas['Member']>(client, ['members'], (one) => (one.id === id ? undefined : one)),
    done: (_, { name }) => t('system.removed', { name }),
    failed: ({ name }) => t('act.refused', { name }),
    about: ['members'],
  })
  const [dialog, ask] = useConfirm()
  const confirmRemove = (m: { id: string; name: string }) =>
    ask({
      title: t('system.removeTitle', { name: m.name }),
      text: t('system.removeText'),
      action: t('system.removeDo'),
      danger: true,
      run: () => remove.mutate(m),
    })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <WaitingRows height={60} />
  const data = roles.map((value) => ({ value, label: t(`role.${value}`) }))
  return (
    <Stack>
      {dialog}
      {owner && (
        <form
          onSubmit={(e) => {
            e.preventDefault()
            invite.mutate()
          }}
        >
          <Group align="flex-end" gap="sm" className="dl-form">
            <TextInput
              ref={field}
              label={t('system.email')}
              type="email"
              required
              value={email}
              onChange={(e) => setEmail(e.currentTarget.value)}
            />
            <NativeSelect
              label={t('system.role')}
              data={data}
              value={role}
              onChange={(e) => setRole(e.currentTarget.value as Role)}
            />
            <Button type="submit" leftSection={<IconUserPlus size={18} aria-hidden />} loading={invite.isPending}>
              {t('system.invite')}
            </Button>
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {t('system.inviteText')}
          </Text>
        </form>
      )}
      {link && (
        <Alert
          color="green"
          title={link.title}
          role="status"
          withCloseButton
          closeButtonLabel={t('close')}
          onClose={() => setLink(undefined)}
        >
          <Text size="sm" mb="xs">
            {t('system.linkText', { name: link.name })}
          </Text>
          <Group gap="xs" wrap="nowrap">
            <TextInput
              aria-label={link.title}
              readOnly
              value={link.url}
              onFocus={(e) => e.currentTarget.select()}
              flex={1}
              data-login-link
            />
            <Copy value={link.url} size="sm" />
          </Group>
        </Alert>
      )}
      {!owner && <Alert color="gray">{t('system.onlyOwners')}</Alert>}
      <Table.ScrollContainer
        minWidth={520}
        className="dl-card dl-stack"
        scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      >
        <Table verticalSpacing="sm" aria-label={t('system.members')}>
          <Table.Tbody>
            {list.data.map((m) => (
              <Table.Tr key={m.id} data-member={m.email ?? m.name}>
                <Table.Td>
                  <Text size="sm" fw={500}>
                    {m.name}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {m.email && m.email !== m.name ? `${m.email} · ` : ''}
                    {m.joined_at ? t('system.joined') : t('system.neverJoined')}{' '}
                    {m.joined_at && <Time at={m.joined_at} />}
                  </Text>
                  {m.login_link_expires_at && (
                    <Text size="xs" c="dimmed">
                      {t('system.linkUntil')} <Time at={m.login_link_expires_at} />
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  {owner && m.id !== me.user.id ? (
                    <NativeSelect
                      aria-label={t('system.roleOf', { name: m.name })}
                      size="xs"
                      data={data}
                      value={m.role}
                      onChange={(e) =>
                        change.mutate({ id: m.id, name: m.name, role: e.currentTarget.value as Role, before: m.role })
                      }
                    />
                  ) : (
                    <Text size="sm">{t(`role.${m.role}`)}</Text>
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  {owner && m.id !== me.user.id && (
                    <Group gap={4} justify="flex-end" wrap="nowrap">
                      <Tooltip label={t(m.joined_at ? 'system.makeLoginLink' : 'system.makeInvitation', m)}>
                        <ActionIcon
                          variant="subtle"
                          loading={makeLink.isPending && makeLink.variables.id === m.id}
                          aria-label={t(m.joined_at ? 'system.makeLoginLink' : 'system.makeInvitation', m)}
                          onClick={() => makeLink.mutate(m)}
                        >
                          <IconLink size={18} aria-hidden />
                        </ActionIcon>
                      </Tooltip>
                      {m.login_link_expires_at && (
                        <Tooltip label={t('system.revokeLink', m)}>
                          <ActionIcon
                            variant="subtle"
                            color="red"
                            loading={revokeLink.isPending && revokeLink.variables.id === m.id}
                            aria-label={t('system.revokeLink', m)}
                            onClick={() => revokeLink.mutate(m)}
                          >
                            <IconLinkOff size={18} aria-hidden />
                          </ActionIcon>
                        </Tooltip>
                      )}
                      <ActionIcon
                        variant="subtle"
                        color="red"
                        aria-label={t('system.removeMember', { name: m.name })}
                        onClick={() => confirmRemove(m)}
                      >
                        <IconTrash size={18} aria-hidden />
                      </ActionIcon>
                    </Group>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}
