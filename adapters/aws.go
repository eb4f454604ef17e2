package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// AWSJSON is the contract of AWS operations in JSON whose token is nextToken: until
// it is unset or empty. The caller names X-Amz-Target, signs the requests, and says
// which member of an item is its identity.
func AWSJSON() Contract {
	return Contract{
		Name: "aws-json",
		Doc: "AWS operations in JSON 1.1 with nextToken and maxResults: until nextToken is unset or empty. The caller gives X-Amz-Target, a client that signs, and the item's identity. " +
			"Token lifetimes differ by service.",
		Source:     []string{"Smithy 2.0 specification, Behavior traits: paginated", "AWS SDK paginator definitions"},
		Unverified: []string{"items.id", "errors"},
		Request: Request{
			Method: http.MethodPost,
			Header: map[string]string{"Content-Type": "application/x-amz-json-1.1"},
			Size:   Size{In: "body:maxResults"},
			Cursor: CursorRule{In: "body:nextToken"},
		},
		Page:   PageRule{Forbidden: []Path{"__type"}},
		Items:  Items{At: anyArray, ID: []Path{"arn"}},
		Next:   Next{From: "body:nextToken"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull, whenEmpty}},
		Errors: awsErrors(),
	}
}

// AWSJSONPascal is the same contract for services whose members begin with a
// capital letter: NextToken and MaxResults.
func AWSJSONPascal() Contract {
	c := AWSJSON()
	c.Name = "aws-json-pascal"
	c.Doc = "AWS operations in JSON 1.1 with NextToken and MaxResults; otherwise as aws-json."
	c.Request.Size.In, c.Request.Cursor.In = "body:MaxResults", "body:NextToken"
	c.Items.ID = []Path{"Arn"}
	c.Next.From = "body:NextToken"
	return c
}

// CloudWatchFilterLogEvents is the contract of FilterLogEvents. Pages may be empty
// and go on, and the same token may come back on empty pages before the walk goes
// forward, so it is followed a few times.
func CloudWatchFilterLogEvents() Contract {
	c := AWSJSON()
	c.Name = "cloudwatch-filter-log-events"
	c.Doc = "CloudWatch Logs FilterLogEvents: nextToken until it is absent. The same token may come back on empty pages; it is followed ten times."
	c.Source = []string{"Amazon CloudWatch Logs API reference, FilterLogEvents"}
	c.Unverified = []string{"request.size", "repeat_limit", "errors"}
	c.Request.Header["X-Amz-Target"] = "Logs_20140328.FilterLogEvents"
	c.Request.Size = Size{In: "body:limit", Max: 10000}
	c.Items = Items{At: "events", ID: []Path{"eventId"}, CreatedAt: "timestamp", CreatedFormat: formatUnixMilli}
	c.End.When = []string{whenAbsent}
	c.RepeatLimit = 10
	return c
}

// CloudWatchGetLogEvents is the contract of GetLogEvents, whose token is always
// there: the end is the token that was sent coming back. An event has no identity,
// so its time and its text stand in for one, and equal events of one instant are
// one item.
func CloudWatchGetLogEvents() Contract {
	c := AWSJSON()
	c.Name = "cloudwatch-get-log-events"
	c.Doc = "CloudWatch Logs GetLogEvents from the head: nextForwardToken until the one that was sent comes back. Equal events of one instant are one item."
	c.Source = []string{"Amazon CloudWatch Logs API reference, GetLogEvents"}
	c.Unverified = []string{"errors"}
	c.Request.Header["X-Amz-Target"] = "Logs_20140328.GetLogEvents"
	c.Request.Body = map[string]any{"startFromHead": true}
	c.Request.Size = Size{In: "body:limit", Max: 10000}
	c.Items = Items{At: "events", ID: []Path{"timestamp", "message"}, CreatedAt: "timestamp", CreatedFormat: formatUnixMilli}
	c.Next.From = "body:nextForwardToken"
	c.End = EndRule{Rule: EndEchoed}
	c.Order = pager.OrderStable
	return c
}

// DynamoDBScan is the contract of a Scan: LastEvaluatedKey, an object, until it is
// absent or empty. A page may be empty and go on, and a key does not promise that
// more follows; a Count below ScannedCount is what the filter left out. The caller
// names the attributes of the table's primary key.
func DynamoDBScan() Contract {
	return Contract{
		Name:       "dynamodb-scan",
		Doc:        "DynamoDB Scan: LastEvaluatedKey until it is absent or empty. The caller gives the attributes of the primary key as the item's identity, as in pk.S and sk.S, and a client that signs.",
		Source:     []string{"Amazon DynamoDB API reference, Scan", "Amazon DynamoDB Developer Guide, Paginating table query results"},
		Unverified: []string{"items.id", "errors"},
		Request: Request{
			Method: http.MethodPost,
			Header: map[string]string{"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.Scan"},
			Size:   Size{In: "body:Limit"},
			Cursor: CursorRule{In: "body:ExclusiveStartKey", As: asJSON},
		},
		Page:   PageRule{Forbidden: []Path{"__type"}},
		Items:  Items{At: "Items", ID: []Path{"pk.S"}},
		Next:   Next{From: "body:LastEvaluatedKey"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent, whenEmpty}},
		Errors: awsErrors(),
	}
}

// DynamoDBQuery is the contract of a Query, which reads one partition in the order
// of the sort key.
func DynamoDBQuery() Contract {
	c := DynamoDBScan()
	c.Name = "dynamodb-query"
	c.Doc = "DynamoDB Query, in the order of the sort key; otherwise as dynamodb-scan."
	c.Source = []string{"Amazon DynamoDB API reference, Query", "Amazon DynamoDB Developer Guide, Paginating table query results"}
	c.Request.Header["X-Amz-Target"] = "DynamoDB_20120810.Query"
	c.Order = pager.OrderStable
	return c
}

// awsErrors tells limits, expired tokens and expired credentials from refusals.
// ExpiredTokenException speaks of the credentials; a page token that has expired
// has other names, which differ by service.
func awsErrors() ErrorRules {
	r := ErrorRules{Codes: map[string]pager.Code{
		"ThrottlingException":                    pager.CodeRateLimited,
		"Throttling":                             pager.CodeRateLimited,
		"TooManyRequestsException":               pager.CodeRateLimited,
		"RequestLimitExceeded":                   pager.CodeRateLimited,
		"ProvisionedThroughputExceededException": pager.CodeRateLimited,
		"SlowDown":                               pager.CodeRateLimited,
		"InternalServerError":                    pager.CodeServerError,
		"InternalFailure":                        pager.CodeServerError,
		"ServiceUnavailable":                     pager.CodeServerError,
		"ServiceUnavailableException":            pager.CodeServerError,
		"ExpiredTokenException":                  pager.CodeUnauthorized,
		"UnrecognizedClientException":            pager.CodeUnauthorized,
	}}
	for _, name := range []string{"InvalidNextToken", "InvalidNextTokenException", "InvalidPaginationToken", "InvalidPaginationTokenException"} {
		r.Rules = append(r.Rules, ErrorRule{Status: []int{400}, Error: name, WithCursor: true, Means: pager.CodeCursorExpired})
	}
	return r
}
