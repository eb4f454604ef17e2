package adapters

import (
	"fmt"
	"slices"
	"strings"
)

// Builtin returns the contracts that come with the library, each a fresh copy.
func Builtin() []Contract {
	return []Contract{
		GitHubREST(),
		GitHubUnlinked(),
		GitHubSearch(),
		GitLabOffset(),
		GitLabKeyset(),
		ShopifyREST(),
		Mastodon(),
		DockerRegistry(),
		LinkHeader(),
		GoogleAIP158(),
		GoogleDrive(),
		GoogleCalendar(),
		GoogleCalendarSync(),
		Gmail(),
		GoogleCompute(),
		GoogleComputeAggregated(),
		Slack(),
		SlackHistory(),
		HubSpotList(),
		HubSpotSearch(),
		Intercom(),
		IntercomSearch(),
		IntercomCompanies(),
		Airtable(),
		ATProto(),
		JiraJQL(),
		AWSJSON(),
		AWSJSONPascal(),
		CloudWatchFilterLogEvents(),
		CloudWatchGetLogEvents(),
		DynamoDBScan(),
		DynamoDBQuery(),
		S3ListObjectsV2(),
		S3ListObjects(),
		S3ListMultipartUploads(),
		Kubernetes(),
		MCPTools(),
		MCPResources(),
		MCPTools2025(),
		MCPResources2025(),
		OAIPMH(),
		OAIPMHIdentifiers(),
		Notion(),
		NotionQuery(),
		StripeSearch(),
		ZendeskCursor(),
		ZendeskIncremental(),
		KeysetCatalogue(),
		StripeV1(),
		DiscordMessages(),
		DiscordMembers(),
		MicrosoftGraph(),
		MicrosoftGraphDelta(),
		MicrosoftOneNote(),
		OData(),
		AzureARM(),
		JSONAPI(),
		HAL(),
		Twilio2010(),
		TwilioV1(),
		StripeV2(),
		FHIR(),
		FHIRHistory(),
		Salesforce(),
		Relay(),
		GitHubGraphQL(),
		ShopifyGraphQL(),
		ElasticsearchSearchAfter(),
		ElasticsearchScroll(),
		IntercomScroll(),
		Crossref(),
		OpenAlex(),
		MediaWiki(),
		JiraOffset(),
		OffsetTotal(),
		PageNumber(),
		PageTotal(),
		PocketBase(),
		KeysetFeed(),
	}
}

// UnknownContractError is a name that no contract has.
type UnknownContractError struct {
	Name string
	// Known are the names that there are.
	Known []string
}

func (e *UnknownContractError) Error() string {
	return fmt.Sprintf("adapters: there is no contract %q; known are %s, and a contract of your own loads from a file", e.Name, strings.Join(e.Known, ", "))
}

// Named returns the contract with that name. For a name that no contract has, the
// error is an [*UnknownContractError].
func Named(name string) (Contract, error) {
	all := Builtin()
	if i := slices.IndexFunc(all, func(c Contract) bool { return c.Name == name }); i >= 0 {
		return all[i], nil
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	return Contract{}, &UnknownContractError{Name: name, Known: known}
}
