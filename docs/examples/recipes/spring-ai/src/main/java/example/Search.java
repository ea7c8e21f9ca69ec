package example;

import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Search {
    public static void main(String[] arguments) {
        SpringApplication.run(Search.class, arguments);
    }

    @Bean
    CommandLineRunner runner(EmbeddingModel model) {
        return arguments -> {
            var store = SimpleVectorStore.builder(model).build();
            store.add(List.of(
                    new Document("A kitten needs four small meals per day."),
                    new Document("Replace the brake pads after 50,000 kilometres.")));
            for (var document : store.similaritySearch("young pets"))
                System.out.printf("%.3f %s%n", document.getScore(), document.getText());
        };
    }
}
