import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.images.ImageGenerateParams;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

public class Main {
    public static void main(String[] arguments) throws Exception {
        OpenAIClient client = OpenAIOkHttpClient.builder()
                .baseUrl(System.getenv("TORANA_BASE_URL"))
                .apiKey(System.getenv("TORANA_KEY"))
                .build();

        var vectors = client.embeddings().create(EmbeddingCreateParams.builder()
                .model("demo-embed")
                .inputOfArrayOfStrings(List.of("cat", "kitten", "car"))
                .build());
        System.out.println(vectors.data().size() + " vectors of " + vectors.data().get(0).embedding().size());

        var parameters = ImageGenerateParams.builder()
                .model("demo-image")
                .prompt("a lighthouse in the fog")
                .size("512x512")
                .build();
        try (var events = client.images().generateStreaming(parameters)) {
            var image = events.stream().flatMap(event -> event.generationCompleted().stream()).findFirst();
            Files.write(Path.of("lighthouse.png"), Base64.getDecoder().decode(image.orElseThrow().b64Json()));
        }
        System.out.println("lighthouse.png");
    }
}
