// The newest versions that Go 1.19 builds, which is the Go of Debian 12. Of version 1 of the SDK it is the last that speaks
// Query to SQS: from 1.47.6 on it speaks JSON.
module oncemq/go-bridge

go 1.19

require (
	github.com/aws/aws-sdk-go v1.47.5
	github.com/aws/aws-sdk-go-v2 v1.30.3
	github.com/aws/aws-sdk-go-v2/service/sns v1.31.3
	github.com/aws/aws-sdk-go-v2/service/sqs v1.34.3
)

require (
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.3.15 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.6.15 // indirect
	github.com/aws/smithy-go v1.20.3 // indirect
	github.com/jmespath/go-jmespath v0.4.0 // indirect
)
