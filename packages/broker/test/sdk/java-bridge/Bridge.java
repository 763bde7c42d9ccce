/*
 * Lets a test drive the AWS SDK for Java v2: one call per line of JSON on standard input, one answer per line on standard
 * output, in the format that boto3-bridge.py describes. Requests are filled and answers written from the SDK's own field
 * descriptions, so every action of the SDK works without being named here. Calls run in their own threads, so that a long poll
 * does not block the others. It is built with an SDK that speaks JSON to SQS and with an old one that speaks Query.
 */

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.core.SdkField;
import software.amazon.awssdk.core.SdkPojo;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.protocol.MarshallingType;
import software.amazon.awssdk.core.retry.RetryPolicy;
import software.amazon.awssdk.core.traits.ListTrait;
import software.amazon.awssdk.core.traits.MapTrait;
import software.amazon.awssdk.core.util.SdkAutoConstructList;
import software.amazon.awssdk.core.util.SdkAutoConstructMap;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.protocols.jsoncore.JsonWriter;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.utils.builder.Buildable;

public final class Bridge {
    private static final int IN_PARALLEL_MAX = 8;

    private static final Map<String, SdkClient> clients = new ConcurrentHashMap<>();
    private static final PrintStream answers =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);

    public static void main(String[] args) throws IOException {
        ExecutorService places = Executors.newFixedThreadPool(IN_PARALLEL_MAX);
        try (var requests = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            requests.lines().forEach(line -> places.execute(() -> serve(line)));
        }
        places.shutdown();
    }

    private static void serve(String line) {
        Map<String, JsonNode> request = JsonNode.parser().parse(line).asObject();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", Integer.valueOf(request.get("id").asNumber()));
        try {
            answer.put("output", outputOf(request));
        } catch (InvocationTargetException thrown) {
            answer.put("error", described(thrown.getCause()));
        } catch (Exception error) {
            answer.put("error", described(error));
        }
        JsonWriter json = JsonWriter.create();
        write(json, answer);
        // For the reader these two end a line.
        String text = new String(json.getBytes(), UTF_8);
        answers.println(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"));
    }

    private static Object outputOf(Map<String, JsonNode> request) throws ReflectiveOperationException {
        String service = request.containsKey("service") ? request.get("service").asString() : "sqs";
        String endpoint = request.get("endpoint").asString();
        SdkClient client = clients.computeIfAbsent(service + endpoint, key -> open(service, endpoint));
        Map<String, Method> actions = actionsOf(client);
        if (!request.containsKey("action")) return actions.keySet();
        Method action = actions.get(request.get("action").asString());
        SdkPojo builder = (SdkPojo) action.getParameterTypes()[0].getMethod("builder").invoke(null);
        return action.invoke(client, filled(builder, request.get("input")));
    }

    private static SdkClient open(String service, String endpoint) {
        AwsClientBuilder<?, ? extends SdkClient> builder =
                service.equals("sns") ? SnsClient.builder() : SqsClient.builder();
        builder.endpointOverride(URI.create(endpoint));
        builder.region(Region.of(System.getenv("AWS_DEFAULT_REGION")));
        builder.overrideConfiguration(settings -> settings.retryPolicy(RetryPolicy.none()));
        return builder.build();
    }

    /** By the names that AWS gives them. */
    private static Map<String, Method> actionsOf(SdkClient client) {
        Map<String, Method> actions = new TreeMap<>();
        for (Method method : client.getClass().getInterfaces()[0].getMethods()) {
            Class<?>[] takes = method.getParameterTypes();
            if (takes.length != 1 || !SdkRequest.class.isAssignableFrom(takes[0])) continue;
            String name = method.getName();
            actions.put(Character.toUpperCase(name.charAt(0)) + name.substring(1), method);
        }
        return actions;
    }

    private static Map<String, Object> described(Throwable error) {
        if (error instanceof AwsServiceException refusal) {
            var details = refusal.awsErrorDetails();
            return Map.of("code", details.errorCode(), "status", refusal.statusCode(), "message", details.errorMessage());
        }
        return Map.of("code", error.getClass().getSimpleName(), "message", String.valueOf(error.getMessage()));
    }

    /** What the builder builds of the members given. */
    private static Object filled(SdkPojo builder, JsonNode members) {
        members.asObject().forEach((name, value) -> {
            SdkField<?> field = fieldOf(builder, name);
            field.set(builder, read(field, value));
        });
        return ((Buildable) builder).build();
    }

    /** Where the SDK has given a member of SNS a name of its own, AWS's is the one on the wire. */
    private static SdkField<?> fieldOf(SdkPojo builder, String name) {
        return builder.sdkFields().stream()
                .filter(field -> name.equals(field.memberName()) || name.equals(field.locationName()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("This SDK has no member " + name + " here."));
    }

    private static Object read(SdkField<?> field, JsonNode value) {
        MarshallingType<?> type = field.marshallingType();
        if (type == MarshallingType.SDK_POJO) return filled(field.constructor().get(), value);
        if (type == MarshallingType.SDK_BYTES) {
            return SdkBytes.fromByteArray(Base64.getDecoder().decode(value.field("$bytes").get().asString()));
        }
        if (type == MarshallingType.LIST) {
            SdkField<?> item = field.getTrait(ListTrait.class).memberFieldInfo();
            return value.asArray().stream().map(each -> read(item, each)).toList();
        }
        if (type == MarshallingType.MAP) {
            SdkField<?> entry = field.getTrait(MapTrait.class).valueFieldInfo();
            Map<String, Object> entries = new LinkedHashMap<>();
            value.asObject().forEach((key, each) -> entries.put(key, read(entry, each)));
            return entries;
        }
        if (type == MarshallingType.INTEGER) return Integer.valueOf(value.asNumber());
        if (type == MarshallingType.BOOLEAN) return value.asBoolean();
        return value.asString();
    }

    private static void write(JsonWriter json, Object value) {
        if (value instanceof SdkPojo structure) {
            Map<String, Object> members = new LinkedHashMap<>();
            for (SdkField<?> field : structure.sdkFields()) members.put(field.memberName(), field.getValueOrDefault(structure));
            members.values().removeIf(Bridge::isAbsent);
            write(json, members);
        } else if (value instanceof Map<?, ?> map) {
            json.writeStartObject();
            map.forEach((name, each) -> {
                json.writeFieldName((String) name);
                write(json, each);
            });
            json.writeEndObject();
        } else if (value instanceof Collection<?> items) {
            json.writeStartArray();
            items.forEach(each -> write(json, each));
            json.writeEndArray();
        } else if (value instanceof SdkBytes bytes) {
            write(json, Map.of("$bytes", Base64.getEncoder().encodeToString(bytes.asByteArray())));
        } else if (value instanceof Boolean truth) {
            json.writeValue(truth);
        } else if (value instanceof Number number) {
            json.writeValue(number.longValue());
        } else {
            json.writeValue((String) value);
        }
    }

    /** The SDK gives an empty list or map of this kind where the answer had none. */
    private static boolean isAbsent(Object value) {
        return value == null || value instanceof SdkAutoConstructList || value instanceof SdkAutoConstructMap;
    }
}
