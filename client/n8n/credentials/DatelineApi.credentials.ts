import type { IAuthenticateGeneric, Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

/** An API token of a workspace. */
export class DatelineApi implements ICredentialType {
	name = 'datelineApi';
	displayName = 'Dateline API';
	icon: Icon = { light: 'file:../nodes/Dateline/dateline.svg', dark: 'file:../nodes/Dateline/dateline.dark.svg' };
	documentationUrl = 'https://github.com/dateline/dateline#api';
	properties: INodeProperties[] = [
		{
			displayName: 'URL',
			name: 'url',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'https://dateline.news.example',
			description: 'Where Dateline is published, without /api/v1',
		},
		{
			displayName: 'API Token',
			name: 'token',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'A token with the scopes that your workflows need',
		},
	];
	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.token}}' } },
	};
	test: ICredentialTestRequest = {
		request: { baseURL: '={{$credentials.url.replace(/\\/+$/, "")}}', url: '/api/v1/me' },
	};
}
